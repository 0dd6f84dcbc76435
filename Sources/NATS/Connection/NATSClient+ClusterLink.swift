package import NIOCore
import Wire

extension NATSClient: ClusterLink {
    package var maximumPayload: Int? { self.connection.map { $0.info.maximumPayload } }

    package func publish(_ payload: ByteBuffer, to subject: String) -> Bool {
        guard let subject = NATSSubject(subject) else { return false }
        do throws(SendRefusal) {
            try self.publish(subject, payload: payload)
            return true
        } catch {
            return false
        }
    }

    package func subscribe(
        to subject: String,
        _ reader: @escaping (_ payload: ByteBuffer, _ subject: String, _ reply: String?) -> Void
    ) {
        guard let pattern = NATSPattern(subject) else { return }
        // Refused only by a client that has ended.
        _ = try? self.subscribe(pattern) { message in reader(message.payload, message.subject, message.reply) }
    }

    package func request(
        _ payload: ByteBuffer,
        to subject: String,
        within limit: TimeAmount
    ) -> EventLoopFuture<ByteBuffer> {
        guard let subject = NATSSubject(subject) else { preconditionFailure("\(subject) is no subject") }
        return self.request(subject, payload: payload, within: limit).map(\.payload)
    }
}
