import NIOCore
import NIOEmbedded
import NIOHTTP1
import WebSocket
import Wire
@testable import Relay

/// A client of `/wamp` on a ``HubBench``. It shows each message as JSON, in whatever serialisation it came.
struct WAMPBenchClient {
    let channel: EmbeddedChannel
    let session: WAMPClient

    var serialisation: WAMPSerialisation { self.session.serialisation }

    /// Sends a message that is given as JSON.
    func send(_ json: String) throws {
        let value = try WAMPJSONDecoder.decode(ByteBuffer(string: json))
        let bytes = self.serialisation.encode(value)
        try self.sendRaw(bytes, isBinary: self.serialisation.isBinary)
    }

    func sendRaw(_ bytes: ByteBuffer, isBinary: Bool) throws {
        try self.channel.writeInbound(isBinary ? WebSocketMessage.binary(bytes) : .text(bytes))
        self.session.flush()
    }

    /// Returns the frames that came since the last call; the end of the connection is a close frame's code and reason.
    func takeFrames() throws -> [(payload: ByteBuffer, isBinary: Bool)] {
        var frames: [(ByteBuffer, Bool)] = []
        while let output = try self.channel.readOutbound(as: WebSocketOutput.self) {
            guard case .framed(var bytes) = output else {
                if case .close(let code, let reason) = output {
                    frames.append((ByteBuffer(string: "\(code) \(reason)"), false))
                }
                continue
            }
            while let (opcode, short) = bytes.readMultipleIntegers(as: (UInt8, UInt8).self) {
                var length = Int(short)
                if length == 126 { length = Int(bytes.readInteger(as: UInt16.self) ?? 0) }
                if short == 127 { length = Int(bytes.readInteger(as: UInt64.self) ?? 0) }
                frames.append((bytes.readSlice(length: length) ?? ByteBuffer(string: "cut short"), opcode == 0x82))
            }
        }
        return frames
    }

    /// Returns the messages that came since the last call, as JSON.
    func take() throws -> [String] {
        try self.takeFrames().map { payload, isBinary in
            guard self.serialisation.isBinary, isBinary else { return String(buffer: payload) }
            var text = ByteBuffer()
            WAMPJSONEncoder.write(try self.serialisation.decode(payload), into: &text)
            return String(buffer: text)
        }
    }

    /// Sends a message, and returns the answers.
    func ask(_ json: String) throws -> [String] {
        try self.send(json)
        return try self.take()
    }

    /// Sends a text that may not be JSON, and returns the answers.
    func sendRawAndTake(_ text: String) throws -> [String] {
        try self.sendRaw(ByteBuffer(string: text), isBinary: false)
        return try self.take()
    }

    /// Opens the session; returns its number.
    @discardableResult
    func hello(_ roles: String = #"{"caller":{},"callee":{"features":{"call_canceling":true}}}"#) throws -> UInt64 {
        try self.send(#"[1,"tickertape",{"roles":\#(roles)}]"#)
        let frames = try self.takeFrames()
        let value = try self.serialisation.decode(frames[0].payload)
        return value.list?[1].id ?? 0
    }
}

extension HubBench {
    /// Makes a hub that speaks WAMP.
    static func wamp(
        broker: Bool = false,
        symbolLimit: Int = 50,
        _ change: (inout RelaySettings) -> Void = { _ in }
    ) -> HubBench {
        HubBench(symbolLimit: symbolLimit) { settings in
            settings.wamp = true
            settings.wampBroker = broker
            change(&settings)
        }
    }

    /// Adds a client of `/wamp` that has not sent its HELLO.
    func wampClient(_ serialisation: WAMPSerialisation = .json) throws -> WAMPBenchClient {
        let session = WAMPClient(context: self.hub.context, serialisation: serialisation)
        return WAMPBenchClient(channel: try self.join(session), session: session)
    }

    /// Adds a client of `/wamp` with its whole WebSocket.
    func pipedWAMP() throws -> PipedClient {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let session = WAMPClient(context: self.hub.context, serialisation: .json)
        let piped = try PipedClient(channel: channel, client: session, deadlines: self.hub.deadlines)
        self.keep(channel)
        return piped
    }

    /// Adds a client of `/wamp` with an open session.
    func wampSession(_ serialisation: WAMPSerialisation = .json) throws -> WAMPBenchClient {
        let client = try self.wampClient(serialisation)
        try client.hello()
        return client
    }
}

extension String {
    /// Whether the texts stand in the message in this order.
    func has(_ texts: String...) -> Bool {
        var rest = self[...]
        for text in texts {
            guard let range = rest.firstRange(of: text) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
