"""GATES: can the candidate replace the baseline?"""
