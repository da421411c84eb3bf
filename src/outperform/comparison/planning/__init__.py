"""Before the experiment: how many documents, in which world, for which verdict."""
