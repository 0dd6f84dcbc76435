import GRDB

/// The reason why the history cannot be opened, read or written, in one line.
package struct HistoryFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The file is not a database, or a damaged one.
        case damaged
        /// A newer program made the database.
        case newer
        /// The disk is full, slow or gone, or the folder is not ours.
        case world
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Describes an error of the database, without its statement and values.
    init(_ error: any Error) {
        if let failure = error as? HistoryFailure {
            self = failure
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.world, "\(error)")
            return
        }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self.init(.damaged, error.message ?? "the database is damaged")
        default: self.init(.world, error.message ?? "error \(error.resultCode.rawValue) of the database")
        }
    }
}
