"""Is what the package says true? Simulation studies with gates; run ``python -m verification``.

``worlds``, ``quantities`` and ``calibration`` hold simulation-based
calibration, ``plants`` the bugs that it must find, ``uniformity`` the tests
that judge the ranks, ``coverage`` the real data resampled, ``honesty`` the
Monte Carlo errors over seeds, and ``blocked`` the cross-validation of equal learners.
"""
