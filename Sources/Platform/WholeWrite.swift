import Glibc

/// The writing of bytes to a descriptor until it has taken all of them. Blocks for as long as that takes.
package enum WholeWrite {
    /// Writes from where the descriptor stands, or over what is at a place in the file.
    ///
    /// - Returns: 0, or the system's number for what went wrong; an unknown part may have been written then.
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
