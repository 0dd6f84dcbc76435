import HTTP
import NIOCore
import WebSocket

/// One connection of lines in a pipeline: bytes below it, the lines as messages above it.
///
/// The first line opens the session, if it is a line and, where a token is needed, shows the token. A line that is no
/// text reaches the session as a binary message. Below it stand `InputPortions`, which bounds the input, and
/// `FramedOutput`, which keeps the order of the output.
final class LineHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = WebSocketMessage
    typealias OutboundIn = WebSocketOutput
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Waits for the first line.
        case new(until: NIODeadline)
        case open(any RelayProtocol)
        /// The last line is written. Waits until it has left the program, and for the client's end.
        case closing
    }

    let service: LineService
    let output: FramedOutput
    var state = State.closing
    /// The time limits of the closing.
    var closing: ClosingMachine
    var timer: DeadlineTimer
    var below: (() -> TransportProgress)?
    /// Whether the client has ended its side.
    var isInputOver = false
    /// Whether everything has left the program, after the last line.
    var isWritten = false
    private(set) var splitter = LineSplitter()
    private var hasBegun = false
    /// The empty lines since the last line with a content.
    private var emptyLines = 0
    private static let maximumEmptyLines = 1_000
    private(set) var context: ChannelHandlerContext?

    init(_ service: LineService, output: FramedOutput) {
        self.service = service
        self.output = output
        self.closing = ClosingMachine(role: .server, timeout: service.closeTimeout)
        self.timer = DeadlineTimer(wheel: service.deadlines)
    }

    /// Adds the handlers of a connection at the end of a pipeline.
    static func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations, _ service: LineService) throws {
        let output = FramedOutput()
        try pipeline.addHandlers([InputPortions(), output, LineHandler(service, output: output)])
    }

    // MARK: Life cycle

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.state = .new(until: context.eventLoop.now + self.service.handshakeTimeout)
        if context.channel.isActive { self.start(context: context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        self.start(context: context)
    }

    private func start(context: ChannelHandlerContext) {
        if let rejection = self.service.rejection { return self.refuse(rejection, context: context) }
        self.arm(context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.output.interrupt()
        self.state = .closing
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.timer.cancel()
        self.state = .closing
        self.context = nil
        self.below = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if !self.hasBegun, let first = bytes.readableBytesView.first {
            self.hasBegun = true
            guard !ForeignProtocol.begins(with: first) else { return self.drop(context: context) }
        }
        while !self.isClosing, let piece = self.splitter.next(&bytes) { self.take(piece, context: context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: self.inputEnded(context: context)
        case is ChannelShouldQuiesceEvent:
            // The relay ends its sessions itself.
            if case .new = self.state { self.refuse(.stopping, context: context) }
        case is InputPortions.Excess: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// The client sends nothing more. It may go on reading: `printf 'prices *\n' | nc HOST PORT`.
    private func inputEnded(context: ChannelHandlerContext) {
        self.isInputOver = true
        if !self.isClosing, let rest = self.splitter.takeRest() { self.take(.line(rest), context: context) }
        switch self.state {
        case .new: context.close(promise: nil)
        case .open: context.fireChannelReadComplete()
        case .closing: if self.isWritten { context.close(promise: nil) }
        }
    }

    private func take(_ piece: LineSplitter.Piece, context: ChannelHandlerContext) {
        switch (piece, self.state) {
        case (.line(let line), _) where line.readableBytesView.allSatisfy({ $0 == UInt8(ascii: " ") }):
            // An empty line means nothing; thousands of them keep the relay busy for nothing.
            self.emptyLines += 1
            if self.emptyLines > Self.maximumEmptyLines { self.drop(context: context) }
        case (.line(let line), .new):
            self.open(with: line, context: context)
        case (.line(let line), .open):
            self.emptyLines = 0
            context.fireChannelRead(Self.wrapInboundOut(Self.message(line)))
        case (.tooLong(let start), .new):
            guard !ForeignProtocol.begins(start) else { return self.drop(context: context) }
            self.refuse("line-too-long", "line too long", context: context)
        case (.tooLong, .open(let session)):
            self.service.refused("line-too-long")
            session.close(.tooBig, reason: "line too long")
        case (_, .closing):
            break  // late: this side has written its last line
        }
    }

    /// Opens the session, or refuses the client.
    private func open(with line: ByteBuffer, context: ChannelHandlerContext) {
        guard !ForeignProtocol.begins(line) else { return self.drop(context: context) }
        let text = String(decoding: line.readableBytesView, as: UTF8.self)
        let prefix = "token:"
        let shown = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
        if let refusal = self.service.tokenRefusal(shown) ?? self.service.admitClient() {
            return self.refuse(refusal, context: context)
        }
        let session = self.service.makeSession()
        session.output.objection = self.service.makeObjection()
        self.state = .open(session)
        self.service.opened(context.channel)
        self.allowForClosing(session.output.webSocketSettings.closeTimeout)
        do {
            try session.join(context.pipeline.syncOperations, over: self)
        } catch {
            return context.close(promise: nil)
        }
        if shown == nil { context.fireChannelRead(Self.wrapInboundOut(Self.message(line))) }
    }

    /// Returns a line as text, or as bytes if it is not UTF-8 without control characters.
    private static func message(_ line: ByteBuffer) -> WebSocketMessage {
        guard let text = String(validating: line.readableBytesView, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return .binary(line) }
        return .text(line)
    }
}
