"""FROM DRAWS TO A DECISION: intervals, the ROPE, Bayes factors, the decision rule, ranks."""
