package import NIOCore

/// The newest message of a lease's key.
package enum LeaseKeyState: Sendable, Equatable {
    /// There has never been a value, or the store has lost it.
    case absent
    /// The message is a marker of the store, which says that the value was deleted.
    case deleted(revision: UInt64)
    case value(ByteBuffer, revision: UInt64)

    /// What a compare-and-set write must expect; 0 for no message.
    package var revision: UInt64 {
        switch self {
        case .absent: 0
        case .deleted(let revision), .value(_, let revision): revision
        }
    }
}

/// The outcome of a request to the store.
package enum LeaseAnswer: Sendable, Equatable {
    /// A read's, from the server that decides about writes: it has all writes that were acknowledged before.
    case state(LeaseKeyState)
    /// A write has taken effect; the revision of its value.
    case written(revision: UInt64)
    /// A write had no effect, because the key has another revision.
    case refused
    /// There was no answer, or the connection has ended before it. A write may have taken effect, or may still do so.
    case unknown
    /// The request certainly had no effect: it was not sent, or no store is there.
    case unsent
}
