import NIOCore
import NIOEmbedded
import Testing
@testable import WebSocket

@Suite("Whole text messages of a service")
struct WholeTextReaderTests {
    /// A receiver of messages by plain calls, which can run a closure for each text.
    private final class Receiver: WebSocketReceiver {
        var texts: [String] = []
        var then: (String) -> Void = { _ in }

        func messageArrived(_ message: WebSocketMessage) {
            guard case .text(let text) = message else { return self.texts.append("binary") }
            self.texts.append(String(buffer: text))
            self.then(String(buffer: text))
        }
    }

    private func handler(of connection: Connection) throws -> WebSocketHandler {
        try connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
    }

    /// Frames of all kinds, with lengths around the limits of each header form.
    private static let frames: [Frame] = [
        .text("a"), .text(""), .text(String(repeating: "é", count: 62)), .text(String(repeating: "x", count: 126)),
        .binary([1, 2]), .text("b"), .ping([1]), .text("begin ", final: false), .ping([2]),
        .continuation(Array("end".utf8), final: true), .text(String(repeating: "y", count: 65_535)), .text("c"),
        .text(String(repeating: "z", count: 65_536)), .text("d"),
    ]

    @Test("they come the same and in order in one read, and cut at any place", arguments: [0, 1, 2, 3, 5, 130, 4_096])
    func cut(pieces: Int) throws {
        // Long frames in small pieces would take long and test nothing more.
        let frames = Self.frames.filter { pieces == 0 || pieces > 100 || $0.payload.count < 1_000 }
        let bytes = frames.flatMap(\.bytes)
        let whole = try Connection(.client)
        for frame in frames { try whole.receive(frame) }
        let cut = try Connection(.client)
        let receiver = Receiver()
        let called = try Connection(.client)
        try self.handler(of: called).receiver = receiver
        for connection in [cut, called] {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = pieces == 0 ? rest.count : pieces
                try connection.receive(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
        }
        #expect(whole.seen.count == frames.count - 1)
        #expect(cut.seen == whole.seen)
        let texts = whole.seen.compactMap { seen -> String? in
            switch seen {
            case .text(let text): text
            case .binary: "binary"
            default: nil
            }
        }
        #expect(receiver.texts == texts)
    }

    @Test("what comes while a message is being taken comes behind the rest of its read")
    func reenters() throws {
        let connection = try Connection(.client)
        let receiver = Receiver()
        try self.handler(of: connection).receiver = receiver
        receiver.then = { text in
            guard text == "1" else { return }
            connection.channel.pipeline.fireChannelRead(
                ByteBuffer(bytes: Frame.text("3").bytes + Frame.text("4").bytes)
            )
        }
        try connection.receive(Frame.text("1").bytes + Frame.text("2").bytes)
        #expect(receiver.texts == ["1", "2", "3", "4"])
    }

    @Test("nothing comes behind the end", arguments: [Frame.close(1000, ""), .text("\u{FF}", final: true, mask: nil)])
    func ends(last: Frame) throws {
        var last = last
        if last.first == 0x81 { last.payload = [0xFF] }
        let connection = try Connection(.client)
        try connection.receive(Frame.text("a").bytes + last.bytes + Frame.text("late").bytes)
        #expect(connection.seen.first == .text("a"))
        #expect(!connection.seen.contains(.text("late")))
        #expect(connection.closure != nil)
    }

    @Test("who takes messages by a call gets none when the channel is gone, and is let go")
    func letsGo() throws {
        weak var gone: Receiver?
        do {
            let connection = try Connection(.client)
            let receiver = Receiver()
            gone = receiver
            try self.handler(of: connection).receiver = receiver
            _ = try connection.channel.finish()
        }
        #expect(gone == nil)
    }
}
