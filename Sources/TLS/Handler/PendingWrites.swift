internal import NIOCore

/// Plaintext that waits to be encrypted, in order, with the promises of who wrote it.
///
/// As in NIO, only what was flushed may leave. Many small writes become one record.
struct PendingWrites {
    private struct Write {
        var bytes: ByteBuffer
        var promise: EventLoopPromise<Void>?
    }

    /// The plaintext that is encrypted in one go: three records, so that a chunk's ciphertext fits 64 KiB.
    private static let chunkBytes = 3 * TLSConnection.recordBytes

    private var writes = CircularBuffer<Write>()
    /// How many of the first writes were flushed.
    private var flushedCount = 0
    /// How many bytes of the first write are encrypted already.
    private var offset = 0
    /// The bytes that wait, flushed or not.
    private(set) var byteCount = 0
    /// Where small writes are gathered to become one record; kept, because a busy connection gathers all the time.
    private var record = ByteBuffer()

    /// Whether flushed bytes wait.
    var hasFlushed: Bool { self.flushedCount > 0 }

    mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        self.byteCount += bytes.readableBytes
        self.writes.append(Write(bytes: bytes, promise: promise))
    }

    /// Lets everything that waits now leave.
    mutating func markFlushed() {
        self.flushedCount = self.writes.count
    }

    /// Encrypts the next chunk of flushed bytes; `promise` becomes one that stands for the writes completed by it.
    ///
    /// After an error the caller fails that promise too: here nobody may be called who could write again.
    mutating func encryptChunk(
        with connection: TLSConnection,
        promise: inout EventLoopPromise<Void>?
    ) throws(TLSError) {
        var budget = Self.chunkBytes
        while budget > 0, self.hasFlushed {
            let firstBytes = self.writes[self.writes.startIndex].bytes.readableBytes - self.offset
            if self.flushedCount == 1 || firstBytes >= TLSConnection.recordBytes {
                budget -= try self.encryptFirst(upTo: budget, with: connection, promise: &promise)
            } else {
                budget -= try self.encryptGathered(with: connection, promise: &promise)
            }
        }
    }

    /// Encrypts the first write, or a part of it, from where it is.
    private mutating func encryptFirst(
        upTo limit: Int,
        with connection: TLSConnection,
        promise: inout EventLoopPromise<Void>?
    ) throws(TLSError) -> Int {
        let bytes = self.writes[self.writes.startIndex].bytes
        let count = min(bytes.readableBytes - self.offset, limit)
        try Self.encrypt(bytes, from: self.offset, count: count, with: connection)
        self.consume(count, promise: &promise)
        return count
    }

    /// Gathers one record from several writes and encrypts it.
    private mutating func encryptGathered(
        with connection: TLSConnection,
        promise: inout EventLoopPromise<Void>?
    ) throws(TLSError) -> Int {
        self.record.clear()
        while self.hasFlushed, self.record.readableBytes < TLSConnection.recordBytes {
            let bytes = self.writes[self.writes.startIndex].bytes
            let room = TLSConnection.recordBytes - self.record.readableBytes
            let count = min(bytes.readableBytes - self.offset, room)
            bytes.withUnsafeReadableBytes { readable in
                _ = self.record.writeBytes(UnsafeRawBufferPointer(rebasing: readable[self.offset...].prefix(count)))
            }
            self.consume(count, promise: &promise)
        }
        let count = self.record.readableBytes
        try Self.encrypt(self.record, from: 0, count: count, with: connection)
        return count
    }

    private static func encrypt(
        _ bytes: ByteBuffer,
        from offset: Int,
        count: Int,
        with connection: TLSConnection
    ) throws(TLSError) {
        let result = bytes.withUnsafeReadableBytes { readable -> Result<Void, TLSError> in
            do throws(TLSError) {
                try connection.write(UnsafeRawBufferPointer(rebasing: readable[offset...].prefix(count)))
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Counts bytes of the first write as encrypted, and drops it when it is through.
    private mutating func consume(_ count: Int, promise: inout EventLoopPromise<Void>?) {
        self.offset += count
        self.byteCount -= count
        let first = self.writes[self.writes.startIndex]
        guard self.offset == first.bytes.readableBytes else { return }
        self.writes.removeFirst()
        self.flushedCount -= 1
        self.offset = 0
        guard let completed = first.promise else { return }
        if let kept = promise {
            kept.futureResult.cascade(to: completed)
        } else {
            promise = completed
        }
    }

    /// Takes out the writes that were not flushed; the caller fails them.
    mutating func removeUnflushed() -> [EventLoopPromise<Void>] {
        var promises: [EventLoopPromise<Void>] = []
        while self.writes.count > self.flushedCount {
            let write = self.writes.removeLast()
            self.byteCount -= write.bytes.readableBytes
            if let promise = write.promise { promises.append(promise) }
        }
        return promises.reversed()
    }

    /// Takes out all writes; the caller fails them.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        let promises = self.writes.compactMap(\.promise)
        self.writes.removeAll()
        self.flushedCount = 0
        self.offset = 0
        self.byteCount = 0
        return promises
    }
}
