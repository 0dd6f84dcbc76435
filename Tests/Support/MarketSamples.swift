package import Market

package func sampleAlert(
    rule: String = "BINANCE:BTCUSDT above 60000",
    symbol: String = "BINANCE:BTCUSDT",
    price: String = "60001.5",
    reason: String = "60001.5 is above 60000"
) -> Alert {
    Alert(
        rule: rule,
        kind: "above",
        symbol: symbol,
        price: ExactDecimal(price),
        time: 1_767_225_600_147_000_000,
        reason: reason,
        count: 3
    )
}

package let oneSecond: Int64 = 1_000_000_000

/// The wall clock 2026-11-21T05:31:02.123Z, and the monotonic clock at one hour.
package let sampleNoon = Moment(monotonic: 3_600 * oneSecond, wall: 1_795_239_062 * oneSecond + 123_000_000)

package func sampleDecimal(_ text: String) -> ExactDecimal { ExactDecimal(text) ?? .zero }

package func sampleSummary(
    _ symbol: String = "BINANCE:BTCUSDT",
    price: String = "61837.63",
    open: String = "61825.5",
    sequence: UInt64 = 17,
    trades: UInt64 = 17
) -> SymbolSummary {
    SymbolSummary(
        symbol: symbol,
        price: sampleDecimal(price),
        size: sampleDecimal("0.02"),
        exchangeTime: sampleNoon.wall,
        received: sampleNoon.wall + 5_000_000,
        sequence: sequence,
        open: sampleDecimal(open),
        high: max(sampleDecimal(price), sampleDecimal(open)),
        low: min(sampleDecimal(price), sampleDecimal(open)),
        volume: ExactSum(sampleDecimal("123.4567891")),
        trades: trades
    )
}
