import NIOCore
import NIOWebSocket

/// NIOWebSocket's frame decoder with our judgement before it.
///
/// NIO's decoder holds a frame back until its last byte and leaves most rules to others. This one looks at each header
/// first, so that a breach is told as soon as it can be known, and shows the part of a frame that has come, so that text
/// can be checked on the way. After a breach or a close frame it throws away what follows (RFC 6455, 7.1.7).
final class JudgingFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = WebSocketFrame

    /// The part of an unfinished data frame that came with the last read, masked as on the wire. An inbound user event.
    struct PartialFrame {
        var header: FrameHeader
        /// The place of the first byte of `bytes` in the payload.
        var offset: Int
        var bytes: ByteBuffer
    }

    private let decoder: WebSocketFrameDecoder
    private let peer: WebSocketRole
    private let maximumPayloadBytes: Int
    private let allowsCompression: Bool
    /// The header of the frame whose payload is still coming.
    private var unfinished: FrameHeader?
    /// Payload bytes of it that were shown already.
    private var shown = 0
    private var isDone = false
    /// Whether it holds nothing of a frame and the next byte may begin one, so that whole frames may go past it.
    private(set) var isBetweenFrames = true

    init(peer: WebSocketRole, maximumPayloadBytes: Int, allowsCompression: Bool = false) {
        self.peer = peer
        self.allowsCompression = allowsCompression
        self.maximumPayloadBytes = max(125, min(maximumPayloadBytes, Int(UInt32.max)))
        self.decoder = WebSocketFrameDecoder(maxFrameSize: self.maximumPayloadBytes)
    }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        // All whole frames of a read in one call, for each call from NIO's generic driver costs more than a frame does.
        // After progress it must be asked to call again: only then it sees what was read in the meantime.
        var state = DecodingState.needMoreData
        self.isBetweenFrames = false
        while try self.decodeNext(context: context, buffer: &buffer) { state = .continue }
        self.isBetweenFrames = self.unfinished == nil && !self.isDone && buffer.readableBytes == 0
        return state
    }

    /// Decodes one frame; false when it is not whole.
    private func decodeNext(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> Bool {
        if self.isDone {
            buffer.moveReaderIndex(to: buffer.writerIndex)
            return false
        }
        let header: FrameHeader
        if let unfinished = self.unfinished {
            header = unfinished
        } else {
            switch FrameHeader.read(
                buffer,
                from: self.peer,
                maximumPayloadBytes: self.maximumPayloadBytes,
                allowsCompression: self.allowsCompression
            ) {
            case .needsMoreBytes:
                return false
            case .violation(let violation):
                self.isDone = true
                context.fireErrorCaught(violation)
                return true
            case .header(let complete):
                header = complete
            }
        }
        switch try self.decoder.decode(context: context, buffer: &buffer) {
        case .continue:
            self.unfinished = nil
            self.shown = 0
            self.isDone = header.opcode == 0x8
            return true
        case .needMoreData:
            self.unfinished = header
            self.showPart(of: header, in: buffer, context: context)
            return false
        }
    }

    private func showPart(of header: FrameHeader, in buffer: ByteBuffer, context: ChannelHandlerContext) {
        // The decoder has consumed the header, so the payload begins at the reader index.
        let new = buffer.readableBytes - self.shown
        guard new > 0, !header.isControl,
            let bytes = buffer.getSlice(at: buffer.readerIndex + self.shown, length: new)
        else { return }
        context.fireUserInboundEventTriggered(PartialFrame(header: header, offset: self.shown, bytes: bytes))
        self.shown += new
    }
}
