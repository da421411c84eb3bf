"""TRAINING RUNS: is it the model, or the seed?"""
