"""TiKV servers on their machines, the cluster that they and PD make, and what is done to it."""
