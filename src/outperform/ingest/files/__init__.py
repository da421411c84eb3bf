"""FILES: found, opened together in one engine that is locked down, counted or joined there."""
