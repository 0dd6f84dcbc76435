import NIOCore
import NIOWebSocket

/// NIOWebSocket's frame decoder with a validation of each header before it.
///
/// NIO's decoder holds a frame back until its last byte and leaves most rules to other handlers. This decoder reads
/// each header first, so that it reports a violation as early as possible. It also passes on the received part of a
/// frame, so that text can be checked on arrival. After a violation or a close frame it discards all further bytes (RFC
/// 6455, 7.1.7).
final class ValidatingFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = WebSocketFrame

    /// The part of an unfinished data frame that arrived with the last read, still masked. An inbound user event.
    struct PartialFrame {
        var header: FrameHeader
        /// The position of the first byte of `bytes` in the payload.
        var offset: Int
        var bytes: ByteBuffer
    }

    private let decoder: WebSocketFrameDecoder
    private let peer: WebSocketRole
    private let maximumPayloadBytes: Int
    private let allowsCompression: Bool
    /// The header of the frame whose payload is still arriving.
    private var unfinished: FrameHeader?
    /// The number of its payload bytes that were passed on already.
    private var shown = 0
    private var isDone = false
    /// Whether no part of a frame is buffered and the next byte begins a frame, so that whole frames may bypass the
    /// decoder.
    private(set) var isBetweenFrames = true

    init(peer: WebSocketRole, maximumPayloadBytes: Int, allowsCompression: Bool = false) {
        self.peer = peer
        self.allowsCompression = allowsCompression
        self.maximumPayloadBytes = max(125, min(maximumPayloadBytes, Int(UInt32.max)))
        self.decoder = WebSocketFrameDecoder(maxFrameSize: self.maximumPayloadBytes)
    }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        // Decodes all whole frames of a read in one call, because each call from NIO's generic driver costs more than a
        // frame does. After progress it returns `.continue`: only then does the driver see bytes that were read in the
        // meantime.
        var state = DecodingState.needMoreData
        self.isBetweenFrames = false
        while try self.decodeNext(context: context, buffer: &buffer) { state = .continue }
        self.isBetweenFrames = self.unfinished == nil && !self.isDone && buffer.readableBytes == 0
        return state
    }

    /// Decodes one frame; returns false when it is incomplete.
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
