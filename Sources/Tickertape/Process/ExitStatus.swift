/// The exit statuses of the program, from `sysexits.h` where it defines one.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// A failure without a more specific status.
    case failure = 1
    /// `doctor` found something that keeps the program from its work.
    case faultFound = 2
    /// `--once` ended without a fresh price of every symbol.
    case noFreshPrice = 3
    /// The command line is invalid (EX_USAGE).
    case usage = 64
    /// The relay's address is in use or cannot be bound (EX_UNAVAILABLE).
    case addressInUse = 69
    /// The service rejects the key (EX_NOPERM).
    case keyRejected = 77
    /// A setting in the environment or in the config file is invalid (EX_CONFIG).
    case configuration = 78
}

/// An error that only the user can correct.
///
/// The program prints it as one line to standard error, and exits with its status.
package struct OperatorError: Error, Equatable, CustomStringConvertible {
    /// The fault, its place and the correction, in one line; never holds a key.
    package var message: String
    package var status: ExitStatus

    package init(_ message: String, status: ExitStatus) {
        self.message = message
        self.status = status
    }

    package var description: String { self.message }
}
