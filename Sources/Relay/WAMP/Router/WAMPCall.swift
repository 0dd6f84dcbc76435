import NIOCore

/// A call that waits for its result.
struct WAMPCall {
    /// A request of a session, by both their numbers.
    struct Key: Hashable {
        let session: UInt64
        let request: UInt64
    }

    /// The caller's request.
    let call: Key
    /// The callee's request.
    let invocation: Key
    let receivesProgress: Bool
    let deadline: NIODeadline
    /// Whether the caller has canceled it and the callee is to answer that.
    var isKilled = false
}
