/// The brake of a feed that can wait, as a replay can and a market can not.
///
/// At speed `max` a replay goes as fast as its slowest lossless reader. A reader that falls behind calls ``pause()``, and
/// ``resume()`` once it has caught up. Trades already under way still arrive after `pause`.
///
/// Both are callable from any thread and return at once. The caller may hold a lock so that the order of the calls is the
/// order of its decisions, so neither may call back into it. They alternate, beginning with `pause`.
package protocol FlowControl: AnyObject, Sendable {
    /// Asks for no more trades for now.
    func pause()
    /// Asks for trades again.
    func resume()
}
