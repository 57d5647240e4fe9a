"""The built-in variants, one TOML file each: differences from the defaults of `tlsim.rules.ruleset.Rules`."""
