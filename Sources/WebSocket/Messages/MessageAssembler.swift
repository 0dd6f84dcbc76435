package import NIOCore

/// The assembler of frames into messages. It checks the order of fragments and the limits, decompresses, and validates
/// UTF-8 on arrival.
///
/// It takes unmasked data frames only; control frames may come in between, and the caller handles them.
package struct MessageAssembler {
    package enum DataOpcode: Sendable, Equatable {
        case text
        case binary
        case continuation
    }

    /// The result of a frame.
    package enum Action: Sendable, Equatable {
        /// The frame has completed this message.
        case deliver(WebSocketMessage)
        /// The message is not complete.
        case awaitMore
        /// The peer has violated a rule, which ends the connection.
        case fail(WebSocketViolation)
    }

    private enum Kind {
        case text
        case binary
    }

    /// The message whose fragments are arriving.
    private struct Open {
        var kind: Kind
        var isCompressed: Bool
    }

    private let maximumBytes: Int
    private let maximumFragments: Int
    /// `nil` without an agreement on compression.
    private let inflater: MessageInflater?

    /// `nil` between messages.
    private var open: Open?
    private var joined = ByteBuffer()
    private var fragments = 0
    private var validator = UTF8Validator()
    /// The number of bytes of the incomplete frame that are checked already.
    private var examined = 0

    package init(maximumBytes: Int, maximumFragments: Int) {
        self.init(maximumBytes: maximumBytes, maximumFragments: maximumFragments, inflater: nil)
    }

    init(maximumBytes: Int, maximumFragments: Int, inflater: MessageInflater?) {
        self.maximumBytes = maximumBytes
        self.maximumFragments = maximumFragments
        self.inflater = inflater
    }

    /// Takes the next unmasked bytes of an incomplete frame, so that invalid text, invalid compression and a size over
    /// the limit are rejected before its end. `frameBytes` is the payload length in the frame's header.
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

    /// Takes a complete frame.
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
            // The common case: a message in one frame is passed on without a copy.
            return .deliver(Self.message(message.kind, payload))
        }
        return self.append(payload, to: message, isFinal: isFinal)
    }

    private func message(of opcode: DataOpcode, isCompressed: Bool) -> Open {
        switch opcode {
        case .text: Open(kind: .text, isCompressed: isCompressed)
        case .binary: Open(kind: .binary, isCompressed: isCompressed)
        // A continuation without a message is rejected before the kind matters.
        case .continuation: self.open ?? Open(kind: .binary, isCompressed: false)
        }
    }

    /// Checks new bytes: decompresses them if the message is compressed, and validates text.
    private mutating func examine(_ bytes: UnsafeRawBufferPointer, of message: Open) -> WebSocketViolation? {
        guard message.isCompressed, let inflater = self.inflater else { return self.check(bytes) }
        return inflater.take(bytes) { message.kind == .text ? self.check($0) : nil }
    }

    private mutating func check(_ text: UnsafeRawBufferPointer) -> WebSocketViolation? {
        self.validator.consume(text) ? nil : .invalidText
    }

    /// Handles the end of a compressed frame whose payload is decompressed already.
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
        // Even the first fragment is copied: a slice would keep its whole read buffer alive until the peer sends the
        // rest.
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
        // Without an agreement on compression the frame decoder rejects a compressed frame by its header.
        precondition(!message.isCompressed || self.inflater != nil, "a compressed message without an agreement")
        // The inflater has its own limit for decompressed bytes.
        if !message.isCompressed, bytes > self.maximumBytes - self.joined.readableBytes { return .messageTooBig }
        if self.fragments >= self.maximumFragments { return .tooManyFragments }
        return nil
    }
}
