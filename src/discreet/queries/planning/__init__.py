"""Which mechanism for which workload: from public quantities, or by a choice that is paid for."""
