/// The program's version, in `--version` and in the User-Agent header.
package let tickertapeVersion = "0.1.0-dev"
