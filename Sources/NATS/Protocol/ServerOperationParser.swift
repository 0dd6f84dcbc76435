package import NIOCore

/// The parser of what a server sends, from bytes cut anywhere.
///
/// A payload that arrives in one read is a slice of that read. Any other payload is copied once, into a buffer of its
/// length. After a violation the parser gives nothing more.
package struct ServerOperationParser: Sendable {
    /// The limits of what a server may send, in bytes.
    package struct Limits: Sendable, Equatable {
        /// A control line other than INFO and -ERR, without CR LF. The server's default for the lines of clients
        /// (4,096), and room for the number of the subscription, which the server adds.
        package var line = 4_096 + 64
        /// An INFO, which names all servers of a cluster, and an -ERR, which quotes a subject.
        package var info = 64 << 10
        /// A message with its headers. The server's default of `max_payload` is 1 MiB; the `max_payload` of an INFO
        /// raises the limit, up to ``largestMessage``.
        package var message = 1 << 20
        /// The most that nats-server allows as `max_payload`.
        package var largestMessage = 64 << 20

        package init() {}
    }

    private struct MessageHead {
        var subject: String
        var subscription: UInt64
        var reply: String?
        var headerBytes: Int
        var totalBytes: Int
    }

    private enum State {
        case line
        case payload(MessageHead)
        case failed
    }

    private var limits: Limits
    private var state = State.line
    private var input = ByteBuffer()
    /// The part of a line or a message whose rest has not arrived.
    private var part = ByteBuffer()

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether all bytes so far belonged to whole operations.
    package var isBetweenOperations: Bool {
        if case .line = self.state { self.part.readableBytes == 0 && self.input.readableBytes == 0 } else { false }
    }

    /// Takes the bytes of a read; ``next()`` returns what they complete.
    package mutating func take(_ bytes: ByteBuffer) {
        if self.input.readableBytes == 0 { self.input = bytes } else { self.input.writeImmutableBuffer(bytes) }
    }

    /// Returns the next whole operation; `nil` when more bytes are needed.
    package mutating func next() throws(NATSViolation) -> ServerOperation? {
        do throws(NATSViolation) {
            while true {
                switch self.state {
                case .failed: return nil
                case .line:
                    guard let line = try self.line() else { return nil }
                    if let operation = try self.operation(line) { return operation }
                case .payload(let head):
                    guard let bytes = try self.payload(head) else { return nil }
                    self.state = .line
                    return self.message(head, bytes)
                }
            }
        } catch {
            self.state = .failed
            self.input.clear()
            self.part.clear()
            throw error
        }
    }

    // MARK: Lines

    /// Takes a line without its end.
    private mutating func line() throws(NATSViolation) -> ByteBuffer? {
        let view = self.input.readableBytesView
        guard let feed = view.firstIndex(of: 0x0A) else {
            guard var rest = self.input.readSlice(length: view.count) else { return nil }
            self.part.writeBuffer(&rest)
            let limit = self.limit(of: self.part)
            guard self.part.readableBytes <= limit + 1 else { throw .longLine(limit: limit) }
            return nil
        }
        guard var line = self.input.readSlice(length: feed - view.startIndex + 1) else { return nil }
        if self.part.readableBytes > 0 {
            self.part.writeBuffer(&line)
            swap(&line, &self.part)
            self.part = ByteBuffer()
        }
        let limit = self.limit(of: line)
        guard line.readableBytes <= limit + 2 else { throw .longLine(limit: limit) }
        let end = line.writerIndex
        guard line.readableBytes >= 2, line.getInteger(at: end - 2, as: UInt8.self) == 0x0D else { throw .lineEnd }
        line.moveWriterIndex(to: end - 2)
        return line
    }

    private func limit(of line: ByteBuffer) -> Int {
        // The first letters of INFO and -ERR begin no other operation.
        switch line.getInteger(at: line.readerIndex, as: UInt8.self) {
        case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "-"): self.limits.info
        default: self.limits.line
        }
    }

    /// Reads a line; `nil` for the line of a message, whose payload follows.
    private mutating func operation(_ line: ByteBuffer) throws(NATSViolation) -> ServerOperation? {
        var words = line
        let name = Self.word(&words)
        if name.isEqual(to: "msg") {
            self.state = .payload(try self.head(words, hasHeaders: false))
            return nil
        }
        if name.isEqual(to: "hmsg") {
            self.state = .payload(try self.head(words, hasHeaders: true))
            return nil
        }
        if name.isEqual(to: "ping") { return .ping }
        if name.isEqual(to: "pong") { return .pong }
        if name.isEqual(to: "+ok") { return .ok }
        if name.isEqual(to: "info") {
            let info = try ServerInformation(json: words)
            self.limits.message = max(self.limits.message, min(info.maximumPayload, self.limits.largestMessage))
            return .info(info)
        }
        if name.isEqual(to: "-err") { return .error(ServerRefusal(Self.unquoted(words))) }
        throw .unknownOperation
    }

    /// Reads `subject number [reply] [header bytes] bytes`.
    private func head(_ words: ByteBuffer, hasHeaders: Bool) throws(NATSViolation) -> MessageHead {
        let operation = hasHeaders ? "HMSG" : "MSG"
        var rest = words
        var texts: [String] = []
        while true {
            let word = Self.word(&rest)
            if word.readableBytes == 0 { break }
            texts.append(String(buffer: word))
            guard texts.count <= 5 else { throw .malformed(operation: operation) }
        }
        let sizes = hasHeaders ? 2 : 1
        guard texts.count == 2 + sizes || texts.count == 3 + sizes, let subscription = Self.number(texts[1]),
            let total = Self.number(texts[texts.count - 1]).flatMap(Int.init(exactly:)),
            let header = hasHeaders ? Self.number(texts[texts.count - 2]).flatMap(Int.init(exactly:)) : 0,
            header <= total
        else { throw .malformed(operation: operation) }
        guard total <= self.limits.message else { throw .largeMessage(bytes: total, limit: self.limits.message) }
        return MessageHead(
            subject: texts[0],
            subscription: subscription,
            reply: texts.count == 3 + sizes ? texts[2] : nil,
            headerBytes: header,
            totalBytes: total
        )
    }

    /// Reads digits and nothing else, at most 19 of them.
    private static func number(_ text: String) -> UInt64? {
        guard (1...19).contains(text.utf8.count),
            text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return UInt64(text)
    }

    /// Takes the next word and the blanks around it; empty at the end.
    private static func word(_ line: inout ByteBuffer) -> ByteBuffer {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        line.moveReaderIndex(forwardBy: line.readableBytesView.prefix(while: isBlank).count)
        let word = line.readSlice(length: line.readableBytesView.prefix { !isBlank($0) }.count) ?? ByteBuffer()
        line.moveReaderIndex(forwardBy: line.readableBytesView.prefix(while: isBlank).count)
        return word
    }

    private static func unquoted(_ words: ByteBuffer) -> String {
        let text = String(buffer: words)
        return text.count >= 2 && text.hasPrefix("'") && text.hasSuffix("'")
            ? String(text.dropFirst().dropLast()) : text
    }

    // MARK: Messages

    /// Takes a payload and its CR LF; `nil` until it is whole.
    private mutating func payload(_ head: MessageHead) throws(NATSViolation) -> ByteBuffer? {
        let whole = head.totalBytes + 2
        let missing = whole - self.part.readableBytes
        var bytes: ByteBuffer
        if self.part.readableBytes == 0, let slice = self.input.readSlice(length: whole) {
            bytes = slice
        } else {
            if self.input.readableBytes == 0 { return nil }
            if self.part.readableBytes == 0 { self.part = ByteBufferAllocator().buffer(capacity: whole) }
            guard var more = self.input.readSlice(length: min(missing, self.input.readableBytes)) else { return nil }
            self.part.writeBuffer(&more)
            guard self.part.readableBytes == whole else { return nil }
            bytes = self.part
            self.part = ByteBuffer()
        }
        let end = bytes.writerIndex
        guard bytes.getInteger(at: end - 2, as: UInt16.self) == 0x0D0A else { throw .payloadEnd }
        bytes.moveWriterIndex(to: end - 2)
        return bytes
    }

    private func message(_ head: MessageHead, _ bytes: ByteBuffer) -> ServerOperation {
        var payload = bytes
        var headers = NATSHeaders()
        if head.headerBytes > 0, let block = payload.readSlice(length: head.headerBytes) {
            do throws(MalformedHeaders) {
                headers = try NATSHeaders(block)
            } catch {
                return .unreadable(subject: head.subject, subscription: head.subscription)
            }
        }
        let message = NATSMessage(subject: head.subject, reply: head.reply, headers: headers, payload: payload)
        return .message(message, subscription: head.subscription)
    }
}

extension ByteBuffer {
    /// Returns whether the bytes are this lower-case word, in any case: the server may use either.
    fileprivate func isEqual(to word: StaticString) -> Bool {
        guard self.readableBytes == word.utf8CodeUnitCount else { return false }
        return zip(self.readableBytesView, UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
            .allSatisfy { byte, letter in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 == letter : byte == letter
            }
    }
}
