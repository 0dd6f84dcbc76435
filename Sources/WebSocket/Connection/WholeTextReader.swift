import NIOCore

/// The fast path for a server's messages: whole uncompressed text frames go from the read straight to
/// `WebSocketHandler`.
///
/// Nearly all messages of an upstream are of this kind, and each step of the frame decoder costs such a message more
/// than its own processing. This handler checks only the form. A frame of any other kind, an incomplete frame and
/// everything behind it go to the decoder, and so do all bytes until the decoder has no unfinished frame.
final class WholeTextReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let decoder: ValidatingFrameDecoder
    private let webSocket: WebSocketHandler
    private let maximumPayloadBytes: Int
    private var isReading = false
    /// Bytes that arrived while a message was being handled; they follow the rest of its read.
    private var later: [ByteBuffer] = []

    init(decoder: ValidatingFrameDecoder, webSocket: WebSocketHandler, maximumPayloadBytes: Int) {
        self.decoder = decoder
        self.webSocket = webSocket
        self.maximumPayloadBytes = maximumPayloadBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Self.unwrapInboundIn(data)
        guard !self.isReading else {
            self.later.append(bytes)
            return
        }
        self.isReading = true
        self.read(bytes, context: context)
        while !self.later.isEmpty { self.read(self.later.removeFirst(), context: context) }
        self.isReading = false
    }

    private func read(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        var bytes = bytes
        while self.decoder.isBetweenFrames, let place = self.wholeText(in: bytes) {
            bytes.moveReaderIndex(forwardBy: place.header)
            guard let payload = bytes.readSlice(length: place.payload) else { break }
            self.webSocket.wholeTextArrived(payload)
        }
        if bytes.readableBytes > 0 { context.fireChannelRead(Self.wrapInboundOut(bytes)) }
    }

    /// Returns the lengths in bytes of the header and the payload, if the bytes begin with a whole text message in one
    /// frame, unmasked, uncompressed, and of at most 65,535 bytes.
    private func wholeText(in bytes: ByteBuffer) -> (header: Int, payload: Int)? {
        bytes.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 2, bytes[0] == 0x81 else { return nil }
            var place = (header: 2, payload: Int(bytes[1]))
            if place.payload == 126, bytes.count >= 4 {
                place = (4, Int(bytes[2]) << 8 | Int(bytes[3]))
                // A length that is not in its shortest form is a violation, which the decoder reports.
                guard place.payload > 125 else { return nil }
            } else if place.payload > 125 {
                return nil
            }
            guard place.payload <= self.maximumPayloadBytes, bytes.count - place.header >= place.payload else {
                return nil
            }
            return place
        }
    }
}
