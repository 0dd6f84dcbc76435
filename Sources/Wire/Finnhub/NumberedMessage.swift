package import Market
package import NIOCore

/// A message to a client of Finnhub's protocol that can resume after a break (`resume=1`): a frame with its position on
/// the relay's tape, or a report about positions.
///
/// The bytes of the frame stand unchanged at the end of the message, so that a reader gets exactly those that a client
/// without positions gets.
package enum NumberedMessage: Sendable, Equatable {
    /// A frame with trades, and the position of its last trade.
    case frame(ByteBuffer, TapePosition)
    /// The newest position when the connection opened, and when the client has what it missed; `0:0` before the first
    /// trade. Later frames follow it.
    case position(TapePosition)
    /// The answer to ``FinnhubRequest/resume(_:since:)``, before the frames that the client missed: whether the relay
    /// has all of them.
    case resumed(isComplete: Bool)
    /// A gap of the upstream, between the frames before and after it, in the form of `/v1/stream`.
    case gap(Gap)

    private static let gapStart: StaticString = "{\"type\":\"gap\""
    private static let frameStart: StaticString = "{\"type\":\"frame\",\"at\":\""
    private static let frameMember: StaticString = ",\"frame\":"
    private static let positionStart: StaticString = "{\"type\":\"position\",\"at\":\""
    private static let complete: StaticString = "{\"type\":\"resumed\",\"complete\":true}"
    private static let incomplete: StaticString = "{\"type\":\"resumed\",\"complete\":false}"

    /// Writes the message.
    package func write(into buffer: inout ByteBuffer) {
        switch self {
        case .frame(let frame, let position):
            buffer.writeStaticString(Self.frameStart)
            Self.write(position, into: &buffer)
            buffer.writeStaticString(Self.frameMember)
            buffer.writeImmutableBuffer(frame)
            buffer.writeStaticString("}")
        case .position(let position):
            buffer.writeStaticString(Self.positionStart)
            Self.write(position, into: &buffer)
            buffer.writeStaticString("}")
        case .resumed(let isComplete):
            buffer.writeStaticString(isComplete ? Self.complete : Self.incomplete)
        case .gap(let gap):
            buffer.writeImmutableBuffer(StreamEncoder.gap(gap))
        }
    }

    /// Writes the rest of a position's text, with the quotation mark at its end.
    private static func write(_ position: TapePosition, into buffer: inout ByteBuffer) {
        JSONText.write(position.epoch, into: &buffer)
        buffer.writeStaticString(":")
        JSONText.write(position.sequence, into: &buffer)
        buffer.writeStaticString("\"")
    }

    /// Reads a message in the form of ``write(into:)``; `nil` for any other text, such as a ping or an error.
    package static func parse(_ text: ByteBuffer) -> NumberedMessage? {
        var rest = text
        if rest.take(Self.frameStart) {
            guard let position = rest.takePosition(), rest.take(Self.frameMember),
                rest.readableBytes > 1, let frame = rest.readSlice(length: rest.readableBytes - 1), rest.take("}")
            else { return nil }
            return .frame(frame, position)
        }
        if rest.take(Self.positionStart) {
            guard let position = rest.takePosition(), rest.take("}"), rest.readableBytes == 0 else { return nil }
            return .position(position)
        }
        if rest.take(Self.complete) { return rest.readableBytes == 0 ? .resumed(isComplete: true) : nil }
        if rest.take(Self.incomplete) { return rest.readableBytes == 0 ? .resumed(isComplete: false) : nil }
        if rest.take(Self.gapStart), case .gap(let gap) = StreamMessage.parse(text) { return .gap(gap) }
        return nil
    }
}

extension ByteBuffer {
    /// Moves past a text, if the readable bytes begin with it; returns whether they do.
    fileprivate mutating func take(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard self.readableBytes >= count else { return false }
        let isThere = self.withUnsafeReadableBytes { bytes in
            bytes.prefix(count).elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: count))
        }
        if isThere { self.moveReaderIndex(forwardBy: count) }
        return isThere
    }

    /// Reads a position and the quotation mark after it.
    fileprivate mutating func takePosition() -> TapePosition? {
        guard let epoch = self.takeNumber(), self.take(":"), let sequence = self.takeNumber(), self.take("\"") else {
            return nil
        }
        return TapePosition(epoch: epoch, sequence: sequence)
    }

    /// Reads the digits of a number; `nil` if there are none, or if it is too large.
    private mutating func takeNumber() -> UInt64? {
        var number: UInt64 = 0
        var count = 0
        for byte in self.readableBytesView {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooLarge) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !isStillTooLarge else { return nil }
            number = sum
            count += 1
        }
        self.moveReaderIndex(forwardBy: count)
        return count > 0 ? number : nil
    }
}
