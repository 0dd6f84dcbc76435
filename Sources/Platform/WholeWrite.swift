import Glibc

/// Writes of all bytes to a descriptor. They block until the descriptor has taken them.
package enum WholeWrite {
    /// Writes at the descriptor's offset, or at `place` in the file.
    ///
    /// - Returns: 0, or the error number; an unknown part may have been written then.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: Int64? = nil) -> Int32 {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count =
                if let place {
                    pwrite(descriptor, rest.baseAddress, rest.count, off_t(place) + off_t(written))
                } else {
                    Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            written += count
        }
        return 0
    }
}
