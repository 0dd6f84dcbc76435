import HTTP
import Market
import NIOCore
import NIOEmbedded
import Testing
import TickertapeTesting
import WebSocket
@testable import Relay

/// One client of lines on a ``HubBench``; its socket takes bytes only while the test lets it.
final class PipedLines {
    let bench: HubBench
    let channel: EmbeddedChannel
    private let gate = SocketGate()
    /// The types of the refusals.
    private(set) var refused: [String] = []
    private(set) var isAdmitted = false
    private var text = ""

    /// - Parameters:
    ///   - token: the token that the first line must show.
    ///   - isFull: whether no further client is admitted.
    init(on bench: HubBench, token: TokenGate? = nil, isFull: Bool = false) throws {
        self.bench = bench
        self.channel = EmbeddedChannel(loop: bench.loop)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let hub = bench.hub
        let pipeline = self.channel.pipeline.syncOperations
        try pipeline.addHandler(self.gate)
        try LineHandler.addHandlers(
            to: pipeline,
            LineService(
                handshakeTimeout: hub.settings.handshakeTimeout,
                closeTimeout: hub.settings.webSocket.closeTimeout,
                deadlines: hub.deadlines,
                tokenRefusal: { shown in
                    token?.refusal(of: shown.map { [$0] } ?? [], from: .version4(1), now: hub.now)
                },
                admitClient: { isFull ? .tooManyClients : nil },
                makeSession: { LineClient(context: hub.context) },
                opened: { [unowned self] _ in self.isAdmitted = true },
                refused: { [unowned self] type in self.refused.append(type) }
            )
        )
        bench.keep(self.channel)
        self.channel.read()
    }

    /// Sends bytes as they are.
    func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
        // A socket is read again after each read.
        if self.channel.isActive { self.channel.read() }
    }

    /// Ends the client's side.
    func endInput() {
        self.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        self.bench.loop.run()
    }

    /// Returns the whole lines that came since the last call.
    func take() throws -> [String] {
        self.bench.loop.run()
        while let part = try self.channel.readOutbound(as: ByteBuffer.self) { self.text += String(buffer: part) }
        var lines = self.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        self.text = lines.removeLast()
        return lines
    }

    /// Sends a line and returns the lines that came since the last call.
    func ask(_ line: String) throws -> [String] {
        try self.send(line + "\n")
        return try self.take()
    }

    func stopReading(fillsChannel: Bool = false) {
        self.gate.isOpen = false
        if fillsChannel { self.setWritable(false) }
    }

    func goOnReading() {
        self.gate.isOpen = true
        self.channel.flush()
        self.setWritable(true)
    }

    private func setWritable(_ isWritable: Bool) {
        guard self.channel.isWritable != isWritable else { return }
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
    }
}

extension HubBench {
    /// Makes a bench whose relay speaks lines.
    static func lines(
        symbolLimit: Int = 50,
        _ change: (inout RelaySettings) -> Void = { _ in }
    ) -> HubBench {
        HubBench(symbolLimit: symbolLimit) { settings in
            settings.lines = Endpoint(host: "127.0.0.1", port: 0)
            settings.keepQuiet()
            change(&settings)
        }
    }
}
