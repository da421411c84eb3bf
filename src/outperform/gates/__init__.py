"""GATES: may the candidate replace the baseline?"""
