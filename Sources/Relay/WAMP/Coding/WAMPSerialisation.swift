package import NIOCore

/// The serialisations of WAMP that the relay speaks, each with its WebSocket subprotocol.
package enum WAMPSerialisation: UInt8, CaseIterable {
    case json
    case messagePack
    case cbor

    /// The name of the WebSocket subprotocol.
    package var subprotocol: String {
        switch self {
        case .json: "wamp.2.json"
        case .messagePack: "wamp.2.msgpack"
        case .cbor: "wamp.2.cbor"
        }
    }

    /// Whether the messages are binary messages of the WebSocket.
    var isBinary: Bool { self != .json }

    /// Returns the form of the messages of a subscription, or of messages to one client.
    ///
    /// - Parameter subscription: the subscription whose number is part of the message; 0 for other messages.
    func form(of subscription: UInt64 = 0) -> MessageForm {
        MessageForm(
            framing: self.isBinary ? .binary : .text,
            variant: self.rawValue,
            subscription: subscription
        )
    }

    /// Returns the value in a message.
    func decode(_ message: ByteBuffer) throws(WAMPCodingFault) -> WAMPValue {
        switch self {
        case .json: try WAMPJSONDecoder.decode(message)
        case .messagePack: try MessagePackDecoder.decode(message)
        case .cbor: try CBORDecoder.decode(message)
        }
    }

    /// Returns a value as the payload of a message.
    func encode(_ value: WAMPValue) -> ByteBuffer {
        var buffer = ByteBuffer()
        switch self {
        case .json: WAMPJSONEncoder.write(value, into: &buffer)
        case .messagePack: MessagePackEncoder.write(value, into: &buffer)
        case .cbor: CBOREncoder.write(value, into: &buffer)
        }
        return buffer
    }

    /// Returns the value in a message as another message; `nil` if it has none.
    ///
    /// - Parameter other: the serialisation of that message.
    package func rewritten(_ message: ByteBuffer, as other: WAMPSerialisation) -> ByteBuffer? {
        (try? self.decode(message)).map(other.encode)
    }

    /// Returns a message as a whole frame of a server.
    func frame(_ message: WAMPMessage) -> ByteBuffer { self.form().framed(self.encode(message.value)) }
}
