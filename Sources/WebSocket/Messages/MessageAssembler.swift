package import NIOCore

/// The joining of frames into messages: order of fragments, limits, and UTF-8 as it comes.
///
/// It takes unmasked data frames only; control frames may come in between and are not its business.
package struct MessageAssembler: Sendable {
    package enum DataOpcode: Sendable, Equatable {
        case text
        case binary
        case continuation
    }

    package enum Action: Sendable, Equatable {
        case deliver(WebSocketMessage)
        case awaitMore
        case fail(WebSocketViolation)
    }

    private enum Kind {
        case text
        case binary
    }

    private let maximumBytes: Int
    private let maximumFragments: Int

    /// The kind of the message whose fragments are coming; nil between messages.
    private var open: Kind?
    private var joined = ByteBuffer()
    private var fragments = 0
    private var validator = UTF8Validator()
    /// Bytes of the frame still on its way that the validator has seen.
    private var examined = 0

    package init(maximumBytes: Int, maximumFragments: Int) {
        self.maximumBytes = maximumBytes
        self.maximumFragments = maximumFragments
    }

    /// Takes the next unmasked bytes of a frame that is not yet complete, so that bad text and a size over the limit are
    /// refused without waiting for its end. `frameBytes` is the length that the frame's header announced.
    package mutating func payloadArrived(
        _ opcode: DataOpcode,
        frameBytes: Int,
        bytes: UnsafeRawBufferPointer
    ) -> WebSocketViolation? {
        if let violation = self.violation(of: opcode, bytes: frameBytes) { return violation }
        guard opcode == .text || (opcode == .continuation && self.open == .text) else { return nil }
        self.examined += bytes.count
        return self.validator.consume(bytes) ? nil : .invalidText
    }

    /// Takes a whole frame.
    package mutating func frameReceived(_ opcode: DataOpcode, isFinal: Bool, payload: ByteBuffer) -> Action {
        if let violation = self.violation(of: opcode, bytes: payload.readableBytes) { return .fail(violation) }
        let kind: Kind
        switch opcode {
        case .text: kind = .text
        case .binary: kind = .binary
        // The check above refuses a continuation of nothing.
        case .continuation: kind = self.open ?? .binary
        }
        if kind == .text {
            let seen = self.examined
            self.examined = 0
            let isValid = payload.withUnsafeReadableBytes { bytes in
                self.validator.consume(UnsafeRawBufferPointer(rebasing: bytes[seen...]))
            }
            guard isValid, !isFinal || self.validator.isAtBoundary else { return .fail(.invalidText) }
        }
        if isFinal, self.open == nil {
            // The common case: a message in one frame goes on as it is, without a copy.
            return .deliver(kind == .text ? .text(payload) : .binary(payload))
        }
        return self.append(payload, kind: kind, isFinal: isFinal)
    }

    private mutating func append(_ payload: ByteBuffer, kind: Kind, isFinal: Bool) -> Action {
        self.open = kind
        self.fragments += 1
        // A copy even of the first fragment: a slice would keep its whole read buffer alive for as long as the peer likes.
        self.joined.writeImmutableBuffer(payload)
        guard isFinal else { return .awaitMore }
        let message: WebSocketMessage = kind == .text ? .text(self.joined) : .binary(self.joined)
        self.open = nil
        self.joined = ByteBuffer()
        self.fragments = 0
        return .deliver(message)
    }

    private func violation(of opcode: DataOpcode, bytes: Int) -> WebSocketViolation? {
        switch (opcode, self.open) {
        case (.continuation, nil): return .unexpectedContinuation
        case (.text, .some), (.binary, .some): return .interleavedMessage
        case (.continuation, .some), (.text, nil), (.binary, nil): break
        }
        if bytes > self.maximumBytes - self.joined.readableBytes { return .messageTooBig }
        if self.fragments >= self.maximumFragments { return .tooManyFragments }
        return nil
    }
}
