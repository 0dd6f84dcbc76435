package import NIOCore

/// What a client sends: one operation of the client protocol.
package enum ClientOperation: Sendable, Equatable {
    case connect(ConnectOptions)
    /// `PUB`, or `HPUB` with headers.
    case publish(NATSSubject, reply: NATSSubject?, headers: NATSHeaders, payload: ByteBuffer)
    case subscribe(NATSPattern, number: UInt64)
    case unsubscribe(number: UInt64)
    case ping
    case pong

    /// Writes the operation. A payload is copied once.
    package func write(into buffer: inout ByteBuffer) {
        switch self {
        case .connect(let options):
            buffer.writeStaticString("CONNECT ")
            var json = options.json
            buffer.writeBuffer(&json)
        case .publish(let subject, let reply, let headers, let payload):
            let target = reply.map { "\(subject) \($0)" } ?? subject.text
            if headers.isEmpty {
                buffer.writeString("PUB \(target) \(payload.readableBytes)\r\n")
            } else {
                let count = headers.byteCount
                buffer.writeString("HPUB \(target) \(count) \(count + payload.readableBytes)\r\n")
                headers.write(into: &buffer)
            }
            buffer.writeImmutableBuffer(payload)
        case .subscribe(let pattern, let number): buffer.writeString("SUB \(pattern) \(number)")
        case .unsubscribe(let number): buffer.writeString("UNSUB \(number)")
        case .ping: buffer.writeStaticString("PING")
        case .pong: buffer.writeStaticString("PONG")
        }
        buffer.writeStaticString("\r\n")
    }
}
