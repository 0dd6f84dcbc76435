// Testing support.
