package import NIOCore
import Wire

/// A bucket of JetStream's key-value store (ADR-8) with one revision a key: its requests, and what their answers mean.
///
/// A revision is the number of a message in the bucket's stream, so a later write has a higher one. A write that
/// expects a revision succeeds for one client only. Where a write has no answer, it may have happened: read the key.
package struct KeyValueBucket: Sendable, Equatable {
    /// A key's newest message.
    package struct Entry: Sendable, Equatable {
        package var revision: UInt64
        package var value: ByteBuffer
        /// Whether the message says that the key was deleted. The next write must expect its revision.
        package var isDeleted: Bool
    }

    package let name: String
    /// The time after which an entry is removed, if it is not written again; `nil` for never.
    package var timeToLive: TimeAmount?
    /// The servers that hold the bucket: 1, 3 or 5.
    package var replicas = 1
    /// Whether the bucket is lost when its servers restart.
    package var isInMemory = false
    /// The largest value, in bytes.
    package var maximumValueBytes = 4_096

    /// Makes a bucket; `nil` unless the name has only letters, digits, `-` and `_` (ADR-8).
    package init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy({ Self.isLetter($0) || "-_".utf8.contains($0) }) else { return nil }
        self.name = name
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private var stream: String { "KV_\(self.name)" }

    /// Returns the subject of a key; `nil` unless it has only letters, digits and `-/_=.`, without an empty token.
    private func subject(of key: String) -> NATSSubject? {
        guard key.utf8.allSatisfy({ Self.isLetter($0) || "-/_=.".utf8.contains($0) }) else { return nil }
        return NATSSubject("$KV.\(self.name).\(key)")
    }

    // MARK: Requests

    /// Creates the bucket. Without effect if it exists with the same settings.
    package var creation: NATSRequest {
        let json = JSONWriter.object { out in
            out.field("name", self.stream)
            out.field("subjects", ["$KV.\(self.name).>"])
            out.field("retention", "limits")
            out.field("max_consumers", -1)
            out.field("max_msgs", -1)
            out.field("max_msgs_per_subject", 1)
            out.field("max_bytes", -1)
            out.field("max_age", self.timeToLive?.nanoseconds ?? 0)
            out.field("max_msg_size", self.maximumValueBytes)
            out.field("storage", self.isInMemory ? "memory" : "file")
            out.field("discard", "new")
            out.field("num_replicas", self.replicas)
            out.field("allow_rollup_hdrs", true)
            out.field("deny_delete", true)
            out.field("deny_purge", false)
            out.field("allow_direct", true)
        }
        return NATSRequest(subject: NATSSubject(valid: "$JS.API.STREAM.CREATE.\(self.stream)"), payload: json)
    }

    /// Writes a key.
    ///
    /// - Parameter revision: the revision that the key must have, 0 for none; `nil` writes in each case.
    /// - Returns: `nil` if the key is invalid.
    package func put(_ key: String, _ value: ByteBuffer, expecting revision: UInt64?) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        return NATSRequest(subject: subject, headers: Self.expectation(of: revision), payload: value)
    }

    /// Deletes a key, by a message that says so.
    package func delete(_ key: String, expecting revision: UInt64?) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        var headers = Self.expectation(of: revision)
        headers.add("KV-Operation", "DEL")
        return NATSRequest(subject: subject, headers: headers, payload: ByteBuffer())
    }

    private static func expectation(of revision: UInt64?) -> NATSHeaders {
        var headers = NATSHeaders()
        if let revision { headers.add("Nats-Expected-Last-Subject-Sequence", "\(revision)") }
        return headers
    }

    /// Reads a key from the leader of the bucket: the answer has every write that was acknowledged before (ADR-31).
    package func get(_ key: String) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        let json = JSONWriter.object { $0.field("last_by_subj", subject.text) }
        return NATSRequest(subject: NATSSubject(valid: "$JS.API.STREAM.MSG.GET.\(self.stream)"), payload: json)
    }

    /// Reads a key from any server that holds the bucket: it costs less, and the answer may be old (ADR-31).
    package func getDirectly(_ key: String) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        return NATSRequest(
            subject: NATSSubject(valid: "$JS.API.DIRECT.GET.\(self.stream).\(subject)"),
            payload: ByteBuffer()
        )
    }

    // MARK: Answers

    /// Reads the answer to ``creation``.
    package static func created(_ answer: NATSMessage) throws(JetStreamFailure) { _ = try JetStreamReply(answer) }

    /// Reads the answer to a write; returns the key's new revision.
    package static func revision(_ answer: NATSMessage) throws(JetStreamFailure) -> UInt64 {
        let reply = try JetStreamReply(answer)
        guard reply.sequence > 0 else { throw .malformed }
        return reply.sequence
    }

    /// Reads the answer to ``get(_:)``; `nil` if the key has no message.
    package static func entry(_ answer: NATSMessage) throws(JetStreamFailure) -> Entry? {
        let reply: JetStreamReply
        do throws(JetStreamFailure) {
            reply = try JetStreamReply(answer)
        } catch .refused(let refusal) where refusal.isMissingMessage {
            return nil
        }
        guard let message = reply.message, message.sequence > 0 else { throw .malformed }
        return Entry(
            revision: message.sequence,
            value: message.payload,
            isDeleted: message.headers["KV-Operation"] != nil
        )
    }

    /// Reads the answer to ``getDirectly(_:)``; `nil` if the key has no message.
    package static func directEntry(_ answer: NATSMessage) throws(JetStreamFailure) -> Entry? {
        if let status = answer.headers.status {
            if status.code == 404 { return nil }
            throw .refused(JetStreamRefusal(code: status.code, number: 0, text: status.description))
        }
        guard let text = answer.headers["Nats-Sequence"], let revision = UInt64(text), revision > 0 else {
            throw .malformed
        }
        return Entry(
            revision: revision,
            value: answer.payload,
            isDeleted: answer.headers["KV-Operation"] != nil
        )
    }
}
