import NIOCore

/// The short way of a service's messages: whole text frames in plain go from the read straight to `WebSocketHandler`.
///
/// Nearly all that a service sends is of this kind, and each step of the frame decoder's way costs such a message more than
/// its own work does. Only the shape is judged here: a frame of any other kind, a part of a frame and everything behind it
/// take the decoder's way, and so does all that comes until the decoder holds nothing again.
final class WholeTextReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let decoder: JudgingFrameDecoder
    private let webSocket: WebSocketHandler
    private let maximumPayloadBytes: Int
    private var isReading = false
    /// What came while a message was being taken: it stands behind the rest of its read.
    private var later: [ByteBuffer] = []

    init(decoder: JudgingFrameDecoder, webSocket: WebSocketHandler, maximumPayloadBytes: Int) {
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

    /// The bytes of the header and of the payload, where a whole text message of a server stands in one frame, not masked,
    /// not compressed, and of up to 64 KiB.
    private func wholeText(in bytes: ByteBuffer) -> (header: Int, payload: Int)? {
        bytes.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 2, bytes[0] == 0x81 else { return nil }
            var place = (header: 2, payload: Int(bytes[1]))
            if place.payload == 126, bytes.count >= 4 {
                place = (4, Int(bytes[2]) << 8 | Int(bytes[3]))
                // A length in more bytes than it needs is a breach, which the decoder tells.
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
