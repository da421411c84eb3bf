"""A folder read as far as it goes: batches in the order of their arrival, and what is no batch."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from outperform._files import make_folder
from outperform.errors import DataError, OutperformError
from outperform.monitor.arrivals import (
    ARRIVALS,
    Arrival,
    Damaged,
    read_arrivals,
    record_arrival,
)
from outperform.monitor.batches import (
    SUFFIX,
    Batch,
    list_batches,
    load_batch,
    store_batch,
)
from outperform.outcomes import Outcomes


class History:
    """The batches of two models in a folder; what was read once is kept.

    Parameters
    ----------
    folder
        Where the batches are.
    models
        The names of A and of B; other models are summed out.
    """

    def __init__(self, folder: Path, models: tuple[str, str]) -> None:
        self.folder = folder
        self.models = models
        self.batches: list[Batch] = []
        self.total: Outcomes | None = None
        self.left_out: dict[str, str] = {}  # file names, each with a reason
        self.unfinished = 0
        self._keys: set[str] = set()
        self._unfit: dict[str, str] = {}  # as left_out, of what has a number
        self._damaged: dict[str, str] = {}  # as left_out, of the order itself
        self._upto: tuple[int, Outcomes] | None = None
        self._first: Batch | None = None  # what others must add up with
        self._number = 0  # of the last arrival that was read
        self._tail = 0  # of the last arrival when a batch was stored

    def store(self, key: str, outcomes: Outcomes) -> None:
        """Write a batch and take a number for it; nothing happens if that was done before."""
        make_folder(self.folder)
        self._refuse_unfit(key, outcomes)
        batch, new = store_batch(self.folder, key, outcomes)
        # What was not there before has no number among those that were.
        after = self._tail if new else 0
        self._tail = max(self._tail, record_arrival(self.folder, key, batch.digest, after=after))

    def refresh(self) -> None:
        """Read what has arrived, and give batches a number whose writer did not."""
        listing = list_batches(self.folder)
        self._follow()
        self.unfinished = listing.unfinished
        strange = dict.fromkeys(listing.strange, f"it is no {SUFFIX} file")
        for key in listing.keys:
            if key in self._keys:
                continue
            try:
                batch = load_batch(self.folder, key)
                self._plus(batch)
            except OutperformError as error:
                strange[f"{key}{SUFFIX}"] = str(error)
            else:
                record_arrival(self.folder, key, batch.digest, after=self._number)
                self._follow()
        self.left_out = strange | self._unfit | self._damaged

    def upto(self, number: int) -> Outcomes:
        """Return the sum of the first batches; asked in order, each is added once."""
        if self._upto is None or self._upto[0] > number:
            self._upto = 1, self.batches[0].outcomes
        for place in range(self._upto[0], number):
            self._upto = place + 1, self._upto[1] + self.batches[place].outcomes
        return self._upto[1]

    def _follow(self) -> None:
        """Read the batches that have a number, in order."""
        for arrival in read_arrivals(self.folder, after=self._number):
            if isinstance(arrival, Damaged):
                self._damaged[arrival.file] = arrival.reason
            # Two processes may have numbered one batch; the first number counts.
            elif arrival.key not in self._keys:
                self._take(self._arrived(*arrival))
            self._number = arrival.number

    def _arrived(self, number: int, key: str, digest: str) -> Batch:
        """Read a batch that has a number; without it no look would be what it was."""
        reason = "it has changed"
        try:
            batch = load_batch(self.folder, key)
            if batch.digest == digest:
                return batch
        except DataError as error:
            reason = str(error)
        raise DataError(
            f"{key}{SUFFIX} in {self.folder} is not what arrived as number {number}: {reason}; put "
            "that back, or move what is there away and add that batch again under its key, or "
            f"remove the folder {ARRIVALS} to begin the history anew"
        )

    def _refuse_unfit(self, key: str, outcomes: Outcomes) -> None:
        """Refuse a batch that does not add up with the first; nobody would ever count it."""
        with suppress(OutperformError):  # such as of other models; who reads it says so
            arrivals = () if self._first else read_arrivals(self.folder)
            arrival = next((one for one in arrivals if isinstance(one, Arrival)), None)
            if arrival is not None:
                batch = load_batch(self.folder, arrival.key)
                self._first = batch._replace(outcomes=self._selected(batch))
        if self._first is None or self._first.key == key:
            return
        try:
            _ = self._first.outcomes + outcomes.select(self.models)
        except OutperformError as error:
            raise DataError(
                f"the batch {key!r} does not fit {self._first.key!r}, the first in {self.folder}: "
                f"{error}"
            ) from error

    def _take(self, batch: Batch) -> None:
        """Add a batch to the others; one that belongs to other models is left out, and said."""
        self._keys.add(batch.key)
        try:
            self.total = self._plus(batch)
        except OutperformError as error:
            self._unfit[f"{batch.key}{SUFFIX}"] = str(error)
        else:
            self.batches.append(batch._replace(outcomes=self._selected(batch)))

    def _plus(self, batch: Batch) -> Outcomes:
        """Return all outcomes with those of one more batch, or say why they do not add up."""
        chosen = self._selected(batch)
        try:
            return chosen if self.total is None else self.total + chosen
        except OutperformError as error:
            raise DataError(f"it does not fit the batches before it: {error}") from error

    def _selected(self, batch: Batch) -> Outcomes:
        return batch.outcomes.select(self.models)
