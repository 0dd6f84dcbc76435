package import NIOCore

/// The joining of frames into messages: order of fragments, limits, inflating, and UTF-8 as it comes.
///
/// It takes unmasked data frames only; control frames may come in between and are not its business.
package struct MessageAssembler {
    package enum DataOpcode: Sendable, Equatable {
        case text
        case binary
        case continuation
    }

    /// What follows from a frame.
    package enum Action: Sendable, Equatable {
        /// It has completed this message.
        case deliver(WebSocketMessage)
        /// It has completed none.
        case awaitMore
        /// The peer has broken a rule, which ends the connection.
        case fail(WebSocketViolation)
    }

    private enum Kind {
        case text
        case binary
    }

    /// The message whose fragments are coming.
    private struct Open {
        var kind: Kind
        var isCompressed: Bool
    }

    private let maximumBytes: Int
    private let maximumFragments: Int
    /// Nil where no compressed messages were agreed on.
    private let inflater: MessageInflater?

    /// Nil between messages.
    private var open: Open?
    private var joined = ByteBuffer()
    private var fragments = 0
    private var validator = UTF8Validator()
    /// Bytes of the frame still on its way that have been looked at.
    private var examined = 0

    package init(maximumBytes: Int, maximumFragments: Int) {
        self.init(maximumBytes: maximumBytes, maximumFragments: maximumFragments, inflater: nil)
    }

    init(maximumBytes: Int, maximumFragments: Int, inflater: MessageInflater?) {
        self.maximumBytes = maximumBytes
        self.maximumFragments = maximumFragments
        self.inflater = inflater
    }

    /// Takes the next unmasked bytes of a frame that is not yet complete, so that bad text, bad compression and a size over
    /// the limit are refused without waiting for its end. `frameBytes` is the length that the frame's header announced.
    package mutating func payloadArrived(
        _ opcode: DataOpcode,
        isCompressed: Bool = false,
        frameBytes: Int,
        bytes: UnsafeRawBufferPointer
    ) -> WebSocketViolation? {
        let message = self.message(of: opcode, isCompressed: isCompressed)
        if let violation = self.violation(of: opcode, in: message, bytes: frameBytes) { return violation }
        guard message.isCompressed || message.kind == .text else { return nil }
        self.examined += bytes.count
        return self.examine(bytes, of: message)
    }

    /// Takes a whole frame.
    package mutating func frameReceived(
        _ opcode: DataOpcode,
        isFinal: Bool,
        isCompressed: Bool = false,
        payload: ByteBuffer
    ) -> Action {
        let message = self.message(of: opcode, isCompressed: isCompressed)
        if let violation = self.violation(of: opcode, in: message, bytes: payload.readableBytes) {
            return .fail(violation)
        }
        if message.isCompressed || message.kind == .text {
            let seen = self.examined
            self.examined = 0
            let violation = payload.withUnsafeReadableBytes { bytes in
                self.examine(UnsafeRawBufferPointer(rebasing: bytes[seen...]), of: message)
            }
            if let violation { return .fail(violation) }
        }
        if message.isCompressed { return self.inflated(message, isFinal: isFinal) }
        guard message.kind == .binary || !isFinal || self.validator.isAtBoundary else { return .fail(.invalidText) }
        if isFinal, self.open == nil {
            // The common case: a message in one frame goes on as it is, without a copy.
            return .deliver(Self.message(message.kind, payload))
        }
        return self.append(payload, to: message, isFinal: isFinal)
    }

    private func message(of opcode: DataOpcode, isCompressed: Bool) -> Open {
        switch opcode {
        case .text: Open(kind: .text, isCompressed: isCompressed)
        case .binary: Open(kind: .binary, isCompressed: isCompressed)
        // A continuation of nothing is refused before the kind matters.
        case .continuation: self.open ?? Open(kind: .binary, isCompressed: false)
        }
    }

    /// Looks at bytes not seen before: inflates what is compressed, and checks what is text.
    private mutating func examine(_ bytes: UnsafeRawBufferPointer, of message: Open) -> WebSocketViolation? {
        guard message.isCompressed, let inflater = self.inflater else { return self.check(bytes) }
        return inflater.take(bytes) { message.kind == .text ? self.check($0) : nil }
    }

    private mutating func check(_ text: UnsafeRawBufferPointer) -> WebSocketViolation? {
        self.validator.consume(text) ? nil : .invalidText
    }

    /// A frame of a compressed message is complete, and has been inflated.
    private mutating func inflated(_ message: Open, isFinal: Bool) -> Action {
        self.open = message
        self.fragments += 1
        guard isFinal, let inflater = self.inflater else { return .awaitMore }
        switch inflater.finish(check: { message.kind == .text ? self.check($0) : nil }) {
        case .failure(let violation):
            return .fail(violation)
        case .success(let plain):
            guard message.kind == .binary || self.validator.isAtBoundary else { return .fail(.invalidText) }
            self.open = nil
            self.fragments = 0
            return .deliver(Self.message(message.kind, plain))
        }
    }

    private mutating func append(_ payload: ByteBuffer, to message: Open, isFinal: Bool) -> Action {
        self.open = message
        self.fragments += 1
        // A copy even of the first fragment: a slice would keep its whole read buffer alive for as long as the peer likes.
        self.joined.writeImmutableBuffer(payload)
        guard isFinal else { return .awaitMore }
        let whole = Self.message(message.kind, self.joined)
        self.open = nil
        self.joined = ByteBuffer()
        self.fragments = 0
        return .deliver(whole)
    }

    private static func message(_ kind: Kind, _ payload: ByteBuffer) -> WebSocketMessage {
        kind == .text ? .text(payload) : .binary(payload)
    }

    private func violation(of opcode: DataOpcode, in message: Open, bytes: Int) -> WebSocketViolation? {
        switch (opcode, self.open) {
        case (.continuation, nil): return .unexpectedContinuation
        case (.text, .some), (.binary, .some): return .interleavedMessage
        case (.continuation, .some), (.text, nil), (.binary, nil): break
        }
        // Who has agreed on no compression never gets a frame so marked: its header is a breach.
        precondition(!message.isCompressed || self.inflater != nil, "a compressed message without an agreement")
        // The inflater has its own limit, for it knows what a frame holds.
        if !message.isCompressed, bytes > self.maximumBytes - self.joined.readableBytes { return .messageTooBig }
        if self.fragments >= self.maximumFragments { return .tooManyFragments }
        return nil
    }
}
