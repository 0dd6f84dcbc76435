/// The program's version, as `--version` prints it and the User-Agent carries it.
package let tickertapeVersion = "0.1.0-dev"
