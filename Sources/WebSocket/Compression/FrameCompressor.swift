package import NIOCore

/// The compressor of a server's whole frames. Each message is compressed alone, so the result serves every client with
/// that window.
package final class FrameCompressor {
    private let deflater: Deflater
    private var scratch = ByteBuffer()

    /// - Parameter windowBits: 9 to 15.
    package init(windowBits: Int) {
        self.deflater = Deflater(DeflateAgreement.Direction(windowBits: windowBits, keepsContext: false))
    }

    /// Whether frames of this size are worth compressing.
    package static func isWorthwhile(bytes: Int) -> Bool { bytes >= MessageCompressor.worthwhileBytes }

    /// Returns the same frames with compressed messages, except for messages that would not become smaller.
    ///
    /// - Parameter frames: whole messages of a server, each in one frame, as `WebSocketFraming` writes them.
    package func compress(_ frames: ByteBuffer) -> ByteBuffer {
        var rest = frames
        var out = ByteBuffer()
        out.reserveCapacity(frames.readableBytes / 2)
        while rest.readableBytes > 0 {
            switch FrameHeader.read(rest, from: .server, maximumPayloadBytes: Int.max) {
            case .header(let header):
                let headerBytes = WebSocketFraming.serverHeaderBytes(payloadBytes: header.payloadBytes)
                guard let frame = rest.readSlice(length: headerBytes + header.payloadBytes) else {
                    preconditionFailure("half a frame")
                }
                self.compress(frame, header, into: &out)
            case .needsMoreBytes, .violation:
                preconditionFailure("not the frames of a server")
            }
        }
        return out
    }

    private func compress(_ frame: ByteBuffer, _ header: FrameHeader, into out: inout ByteBuffer) {
        guard !header.isControl, Self.isWorthwhile(bytes: header.payloadBytes) else {
            out.writeImmutableBuffer(frame)
            return
        }
        precondition(header.isFinal, "a message in several frames")
        self.scratch.clear()
        self.deflater.compress(frame.readableBytesView.suffix(header.payloadBytes), into: &self.scratch)
        guard self.scratch.readableBytes < header.payloadBytes else {
            out.writeImmutableBuffer(frame)
            return
        }
        WebSocketFraming.writeServerHeader(
            opcode: header.opcode,
            isCompressed: true,
            payloadBytes: self.scratch.readableBytes,
            into: &out
        )
        out.writeImmutableBuffer(self.scratch)
    }
}
