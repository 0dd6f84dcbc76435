/// The flow control of a feed that can wait, as a replay can and a live market cannot.
///
/// At speed `max` a replay goes as fast as its slowest lossless reader. A reader that falls behind calls ``pause()``,
/// and ``resume()`` once it has caught up. Trades already on their way still arrive after `pause`.
///
/// Both methods may be called from any thread and return at once. The caller may hold a lock, so that the order of the
/// calls is the order of its decisions. An implementation must therefore not call back into the caller. The calls
/// alternate and begin with `pause`.
package protocol FlowControl: AnyObject, Sendable {
    /// Requests that no more trades are sent for now.
    func pause()
    /// Requests that trades are sent again.
    func resume()
}
