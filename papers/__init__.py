"""The papers' tables, published beside ours."""
