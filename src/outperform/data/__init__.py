"""WHAT WAS SEEN: outcomes, frozen tables that add up, and scores item by item."""
