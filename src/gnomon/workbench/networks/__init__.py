"""The command networks: trained networks to share and reuse."""
