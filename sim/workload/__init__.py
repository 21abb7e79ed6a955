"""What clients ask: TPC-C, sysbench and custom mixes, as statements over real keys."""
