package import NIOCore
import Wire

/// A bucket of JetStream's key-value store (ADR-8) with one revision a key, for leases: its requests, and what their
/// answers mean.
///
/// A revision is the number of a message in the bucket's stream, so a later write has a higher one. A write that
/// expects a revision succeeds for one client only. The rules of a lease are those of its user.
///
/// nats-server 2.10 or later numbers from the first revision of the bucket's creation, so that a bucket can have none
/// of the revisions of a lost one. An older server numbers each bucket from 1.
///
/// The bucket removes no entry by its age. Its users judge the age of a value that does not change, each by its own
/// clock and with a margin for the difference of the clocks.
package struct KeyValueBucket: Sendable, Equatable {
    /// A key's newest message.
    package struct Entry: Sendable, Equatable {
        package var revision: UInt64
        package var value: ByteBuffer
        /// Whether the message says that the key was deleted, or that the server has removed it. The next write must
        /// expect its revision.
        package var isDeleted: Bool
    }

    package let name: String
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

    /// Creates the bucket, in files. Without effect if it exists; with other settings, of which the first revision is
    /// one, the answer is ``JetStreamRefusal/isOtherSettings``.
    ///
    /// - Parameter firstRevision: the revision of the first write, below 2^53. A server before 2.10 ignores it.
    package func creation(firstRevision: UInt64) -> NATSRequest {
        let json = JSONWriter.object { out in
            out.field("name", self.stream)
            out.field("subjects", ["$KV.\(self.name).>"])
            out.field("retention", "limits")
            out.field("max_consumers", -1)
            out.field("max_msgs", -1)
            out.field("max_msgs_per_subject", 1)
            out.field("max_bytes", -1)
            out.field("max_age", 0)
            out.field("max_msg_size", self.maximumValueBytes)
            out.field("storage", "file")
            out.field("discard", "new")
            out.field("num_replicas", 1)
            out.field("allow_rollup_hdrs", true)
            out.field("deny_delete", true)
            out.field("deny_purge", false)
            out.field("allow_direct", true)
            out.field("first_seq", firstRevision)
        }
        return NATSRequest(subject: NATSSubject(valid: "$JS.API.STREAM.CREATE.\(self.stream)"), payload: json)
    }

    /// Writes a key if it has a revision: a compare-and-set.
    ///
    /// - Parameter revision: the revision that the key must have, 0 for none.
    /// - Returns: `nil` if the key is invalid.
    package func put(_ key: String, _ value: ByteBuffer, expecting revision: UInt64) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        var headers = NATSHeaders()
        headers.add("Nats-Expected-Last-Subject-Sequence", "\(revision)")
        return NATSRequest(subject: subject, headers: headers, payload: value)
    }

    /// Reads a key from the leader of the bucket (ADR-31).
    ///
    /// The answer can be old: a server that is no longer the leader answers until it knows that.
    package func get(_ key: String) -> NATSRequest? {
        guard let subject = self.subject(of: key) else { return nil }
        let json = JSONWriter.object { $0.field("last_by_subj", subject.text) }
        return NATSRequest(subject: NATSSubject(valid: "$JS.API.STREAM.MSG.GET.\(self.stream)"), payload: json)
    }

    // MARK: Answers

    /// Reads the answer to ``creation(firstRevision:)``.
    package func created(_ answer: NATSMessage) throws(JetStreamFailure) {
        _ = try JetStreamReply(answer, to: .creation(stream: self.stream))
    }

    /// Reads the answer to a write; returns the key's new revision.
    package func revision(_ answer: NATSMessage) throws(JetStreamFailure) -> UInt64 {
        try JetStreamReply(answer, to: .write(stream: self.stream)).sequence
    }

    /// Reads the answer to ``get(_:)``; `nil` if the key has no message.
    package func entry(_ answer: NATSMessage, of key: String) throws(JetStreamFailure) -> Entry? {
        guard let subject = self.subject(of: key) else { throw .malformed }
        let reply: JetStreamReply
        do throws(JetStreamFailure) {
            reply = try JetStreamReply(answer, to: .read(subject))
        } catch .refused(let refusal) where refusal.isMissingMessage {
            return nil
        }
        guard let message = reply.message else { throw .malformed }
        // A server of 2.11 or later can leave a marker where it has removed a message (ADR-43).
        let isDeleted = message.headers["KV-Operation"] != nil || message.headers["Nats-Marker-Reason"] != nil
        return Entry(revision: message.sequence, value: message.payload, isDeleted: isDeleted)
    }
}
