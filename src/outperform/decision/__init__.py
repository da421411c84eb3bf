"""DECISION: intervals, the ROPE, Bayes factors, the decision rule and ranks, from draws."""
