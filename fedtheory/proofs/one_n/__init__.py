"""Worst cases for a stated number of clients, by PEPit."""
