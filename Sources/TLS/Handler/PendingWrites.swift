internal import NIOCore

/// A queue of plaintext to encrypt, in order, with the promises of its writes.
///
/// As in NIO, only flushed writes are sent. Several small writes become one record.
struct PendingWrites {
    private struct Write {
        var bytes: ByteBuffer
        var promise: EventLoopPromise<Void>?
    }

    /// The plaintext of one chunk in bytes: three records, so that its ciphertext fits 64 KiB.
    private static let chunkBytes = 3 * TLSConnection.recordBytes

    private var writes = CircularBuffer<Write>()
    /// The number of writes at the front of the queue that are flushed.
    private var flushedCount = 0
    /// The number of bytes of the first write that are encrypted.
    private var offset = 0
    /// The number of queued bytes, flushed or not.
    private(set) var byteCount = 0
    /// The buffer that joins small writes into one record. It is kept, because a busy connection uses it all the time.
    private var record = ByteBuffer()

    /// Whether there are flushed writes.
    var hasFlushed: Bool { self.flushedCount > 0 }

    mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        self.byteCount += bytes.readableBytes
        self.writes.append(Write(bytes: bytes, promise: promise))
    }

    /// Marks all queued writes as flushed.
    mutating func markFlushed() {
        self.flushedCount = self.writes.count
    }

    /// Encrypts the next chunk of flushed bytes. `promise` becomes a promise for the writes that the chunk completes.
    ///
    /// After an error the caller fails the promise too. Failing it in here could call code that writes again.
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

    /// Encrypts the first write or a part of it, without copying it.
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

    /// Copies several writes into one record and encrypts it.
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
        // An empty write says only when those before it have left.
        guard count > 0 else { return }
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

    /// Counts bytes of the first write as encrypted, and removes the write once all of it is.
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

    /// Removes the unflushed writes and returns their promises for the caller to fail.
    mutating func removeUnflushed() -> [EventLoopPromise<Void>] {
        var promises: [EventLoopPromise<Void>] = []
        while self.writes.count > self.flushedCount {
            let write = self.writes.removeLast()
            self.byteCount -= write.bytes.readableBytes
            if let promise = write.promise { promises.append(promise) }
        }
        return promises.reversed()
    }

    /// Removes all writes and returns their promises for the caller to fail.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        let promises = self.writes.compactMap(\.promise)
        self.writes.removeAll()
        self.flushedCount = 0
        self.offset = 0
        self.byteCount = 0
        return promises
    }
}
