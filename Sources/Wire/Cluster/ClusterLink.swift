package import NIOCore

/// The way of a cluster's messages between its members, which NATS is. All is used on one event loop.
package protocol ClusterLink: AnyObject {
    /// The largest payload, bytes; `nil` without a connection.
    var maximumPayload: Int? { get }
    /// Sends a message; returns whether it was sent. One that was not is lost.
    func publish(_ payload: ByteBuffer, to subject: String) -> Bool
    /// Receives the messages of a subject on this and all later connections; `*` stands for one token.
    ///
    /// - Parameter reader: called with the payload, the message's subject, and that of an answer if the sender expects
    ///   one.
    func subscribe(
        to subject: String,
        _ reader: @escaping (_ payload: ByteBuffer, _ subject: String, _ reply: String?) -> Void
    )
    /// Sends a request, and returns the payload of its answer. The future fails if it has no answer within the limit.
    func request(_ payload: ByteBuffer, to subject: String, within limit: TimeAmount) -> EventLoopFuture<ByteBuffer>
}
