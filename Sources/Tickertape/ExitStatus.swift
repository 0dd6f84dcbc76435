/// The ways in which the program ends, as numbers of `sysexits.h` where it has one.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// Something failed for which no status of its own exists.
    case failure = 1
    /// `--once` came to its end without a fresh price of each symbol.
    case noFreshPrice = 3
    /// The command line was wrong (EX_USAGE).
    case usage = 64
    /// The relay's address is taken or cannot be bound (EX_UNAVAILABLE).
    case addressInUse = 69
    /// The service does not accept the key (EX_NOPERM).
    case keyRejected = 77
    /// A setting in the environment or in the config file is wrong (EX_CONFIG).
    case configuration = 78
}

/// An error that only the person who started the program can mend.
///
/// Printed as one line on standard error; the program then ends with the status.
package struct OperatorError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, where, and what to change, in one line; never holds a key.
    package var message: String
    package var status: ExitStatus

    package init(_ message: String, status: ExitStatus) {
        self.message = message
        self.status = status
    }

    package var description: String { self.message }
}
