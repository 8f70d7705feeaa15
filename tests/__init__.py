"""Tests of Numoku."""
