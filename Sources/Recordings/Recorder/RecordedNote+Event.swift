import NIOCore
package import Wire

extension RecordedNote {
    /// Converts an event of the connection into the note that a recording holds.
    package init(_ event: ConnectionEvent) {
        switch event {
        case .connected(let address): self.init(.connect, word: address)
        case .requested(let request, let text):
            switch request {
            case .subscribe(let symbol):
                self.init(.subscribe, direction: .outgoing)
                self.symbol = symbol
            case .unsubscribe(let symbol):
                self.init(.unsubscribe, direction: .outgoing)
                self.symbol = symbol
            case nil: self.init(.request, direction: .outgoing)
            }
            self.frame = text
        case .ping(let direction, let payload):
            self.init(.ping, direction: direction)
            self.frame = Self.text(payload)
        case .pong(let direction, let payload):
            self.init(.pong, direction: direction)
            self.frame = Self.text(payload)
        case .disconnected(let code, let reason, let cause, let goodbye):
            self.init(.disconnect, direction: goodbye.map { _ in .incoming })
            self.frame = goodbye.flatMap { Self.text(ByteBuffer(string: $0)) }
            self.code = code
            self.reason = reason
            self.cause = cause.word
        }
    }

    /// Returns a payload that is valid UTF-8, since a JSON string holds no other bytes; `nil` for others and for an
    /// empty one.
    private static func text(_ payload: ByteBuffer) -> ByteBuffer? {
        guard payload.readableBytes > 0, String(validating: payload.readableBytesView, as: UTF8.self) != nil else {
            return nil
        }
        return payload
    }
}
