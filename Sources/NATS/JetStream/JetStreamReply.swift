import Market
package import NIOCore
import Wire

/// A request to JetStream: a message whose answer has the same form each time.
package struct NATSRequest: Sendable, Equatable {
    package var subject: NATSSubject
    package var headers = NATSHeaders()
    package var payload: ByteBuffer
}

/// A refusal of JetStream's API.
package struct JetStreamRefusal: Sendable, Equatable {
    /// A status as in HTTP.
    package var code: Int
    /// The number of the error in nats-server's `errors.json`.
    package var number: Int
    package var text: String

    /// The key has another revision, or another write of it is on its way (10071 and, in a cluster, 10164: "wrong last
    /// sequence"). This write had no effect; an earlier one of the same program may have had one.
    ///
    /// No other refusal of a write proves that it had no effect.
    package var isOtherRevision: Bool { self.number == 10_071 || self.number == 10_164 }
    /// The bucket exists with other settings (10058).
    package var isOtherSettings: Bool { self.number == 10_058 }
    /// The bucket does not exist (10059).
    package var isMissingBucket: Bool { self.number == 10_059 }
    /// There is no message on this subject (10037).
    var isMissingMessage: Bool { self.number == 10_037 }
}

/// The reason why a request to JetStream has no usable answer.
package enum JetStreamFailure: Error, Sendable, Equatable {
    case refused(JetStreamRefusal)
    case malformed
    /// The answer is not one to this question: to another one, or about another stream or subject.
    case unrelated
}

extension JetStreamFailure: CustomStringConvertible {
    /// One line with what to do, where something can be done.
    package var description: String {
        switch self {
        case .malformed: "JetStream's answer cannot be read: another program answers on its subjects"
        case .unrelated: "the answer is not JetStream's to this question: another program answers on its subjects"
        case .refused(let refusal):
            switch refusal.number {
            case _ where refusal.isOtherSettings:
                "the bucket exists with other settings: \(refusal.text); delete it, or use another name"
            case _ where refusal.isMissingBucket: "the bucket does not exist: \(refusal.text)"
            case 10_039, 10_076: "JetStream is not enabled: \(refusal.text); enable it in the server and the account"
            case 10_071, 10_164: "the key has another revision: \(refusal.text)"
            default: "JetStream refused: \(refusal.text) (\(refusal.number))"
            }
        }
    }
}

/// The members of an answer of JetStream's API that this program reads.
struct JetStreamReply {
    /// What was asked. An answer says what it answers, and only that is taken from it.
    enum Question {
        case creation(stream: String)
        /// A message for a stream; its answer has no type.
        case write(stream: String)
        /// The newest message of a subject.
        case read(NATSSubject)

        /// The type of the answer.
        var type: String? {
            switch self {
            case .creation: "io.nats.jetstream.api.v1.stream_create_response"
            case .write: nil
            case .read: "io.nats.jetstream.api.v1.stream_msg_get_response"
            }
        }
    }

    /// A message of a stream, as `STREAM.MSG.GET` returns it.
    struct StoredMessage {
        var subject = ""
        var sequence: UInt64 = 0
        var headers = NATSHeaders()
        var payload = ByteBuffer()
    }

    private var type: String?
    private var stream: String?
    private var refusal: JetStreamRefusal?
    /// The number that a stored message has got; 0 in other answers.
    private(set) var sequence: UInt64 = 0
    private(set) var message: StoredMessage?

    /// Reads an answer. Throws its refusal, if it has one.
    init(_ message: NATSMessage, to question: Question) throws(JetStreamFailure) {
        var reply = JetStreamReply()
        let isWhole = message.payload.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                switch reader.kind() {
                case .object where key.equals("error"): reply.readRefusal(&reader)
                case .object where key.equals("message"): reply.readMessage(&reader)
                case .object where key.equals("config"): reply.readConfiguration(&reader)
                case .number where key.equals("seq"): reply.readSequence(&reader)
                case .string where key.equals("type"): Self.read(&reader, into: &reply.type)
                case .string where key.equals("stream"): Self.read(&reader, into: &reply.stream)
                case .object, .array, .string, .number, .literal: reader.skipValue()
                case .invalid: false
                }
            }
        }
        guard isWhole else { throw .malformed }
        try reply.check(question)
        self = reply
    }

    private init() {}

    private func check(_ question: Question) throws(JetStreamFailure) {
        guard self.type == question.type else { throw .unrelated }
        if let refusal = self.refusal {
            if case .write(let stream) = question, let named = self.stream, named != stream { throw .unrelated }
            throw .refused(refusal)
        }
        switch question {
        case .creation(let stream): guard self.stream == stream else { throw .unrelated }
        case .write(let stream):
            guard self.sequence > 0 else { throw .malformed }
            guard self.stream == stream else { throw .unrelated }
        case .read(let subject):
            guard let message = self.message, message.sequence > 0 else { throw .malformed }
            guard message.subject == subject.text else { throw .unrelated }
        }
    }

    private static func read(_ reader: inout JSONReader, into text: inout String?) -> Bool {
        text = reader.string()?.text
        return text != nil
    }

    /// Reads the settings of a stream, of which the name counts.
    private mutating func readConfiguration(_ reader: inout JSONReader) -> Bool {
        reader.object { key, reader in
            switch reader.kind() {
            case .string where key.equals("name"): Self.read(&reader, into: &self.stream)
            case .object, .array, .string, .number, .literal: reader.skipValue()
            case .invalid: false
            }
        }
    }

    private mutating func readSequence(_ reader: inout JSONReader) -> Bool {
        guard let number = reader.integer(), number >= 0 else { return false }
        self.sequence = UInt64(number)
        return true
    }

    private mutating func readRefusal(_ reader: inout JSONReader) -> Bool {
        var refusal = JetStreamRefusal(code: 0, number: 0, text: "no reason given")
        let isWhole = reader.object { key, reader in
            switch reader.kind() {
            case .number where key.equals("code"): refusal.code = reader.integer().flatMap(Int.init(exactly:)) ?? 0
            case .number where key.equals("err_code"):
                refusal.number = reader.integer().flatMap(Int.init(exactly:)) ?? 0
            case .string where key.equals("description"):
                guard let text = reader.string() else { return false }
                refusal.text = PrintableText.line(text.text, limit: 200)
            case .object, .array, .string, .number, .literal: return reader.skipValue()
            case .invalid: return false
            }
            return true
        }
        self.refusal = refusal
        return isWhole
    }

    private mutating func readMessage(_ reader: inout JSONReader) -> Bool {
        var message = StoredMessage()
        let isWhole = reader.object { key, reader in
            switch reader.kind() {
            case .number where key.equals("seq"):
                guard let number = reader.integer(), number > 0 else { return false }
                message.sequence = UInt64(number)
                return true
            case .string where key.equals("subject"):
                guard let text = reader.string() else { return false }
                message.subject = text.text
                return true
            case .string where key.equals("data"):
                guard let text = reader.string(), let bytes = Base64.decode(Substring(text.text).utf8) else {
                    return false
                }
                message.payload = bytes
                return true
            case .string where key.equals("hdrs"):
                guard let text = reader.string(), let bytes = Base64.decode(Substring(text.text).utf8),
                    let headers = try? NATSHeaders(bytes)
                else { return false }
                message.headers = headers
                return true
            case .object, .array, .string, .number, .literal: return reader.skipValue()
            case .invalid: return false
            }
        }
        self.message = message
        return isWhole
    }
}
