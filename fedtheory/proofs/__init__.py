"""What holds for a method over a whole class of functions: worst cases, certificates, potentials, closed forms, spectra."""
