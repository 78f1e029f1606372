//! Sensors of tyres.

use super::{NamedSensor, Reading, Sensor, number};
use crate::element::TyreResult;
use crate::results::Channel;

/// What is measured of a tyre: a word, its unit, and the number.
struct TyreQuantity {
    word: &'static str,
    unit: &'static str,
    value: fn(&TyreResult) -> f64,
}

/// All that can be measured of a tyre beside its force and torque.
const QUANTITIES: &[TyreQuantity] = &[
    TyreQuantity { word: "load", unit: "N", value: |tyre| tyre.load },
    TyreQuantity { word: "deflection", unit: "m", value: |tyre| tyre.deflection },
    TyreQuantity { word: "slip", unit: "1", value: |tyre| tyre.slip[0] },
    TyreQuantity { word: "slip-angle", unit: "rad", value: |tyre| tyre.slip[1].atan() },
    TyreQuantity { word: "longitudinal-force", unit: "N", value: |tyre| tyre.force[0] },
    TyreQuantity { word: "lateral-force", unit: "N", value: |tyre| tyre.force[1] },
    TyreQuantity { word: "aligning-torque", unit: "Nm", value: |tyre| tyre.aligning_torque },
];

/// Shows what a tyre does.
pub struct TyreSensor {
    element: usize,
    quantity: &'static TyreQuantity,
}

impl TyreSensor {
    /// All sensors of a tyre.
    pub fn all(name: &str, element: usize) -> impl Iterator<Item = NamedSensor> {
        QUANTITIES.iter().map(move |quantity| {
            NamedSensor::new(format!("{name}.{}", quantity.word), Self { element, quantity })
        })
    }
}

impl Sensor for TyreSensor {
    fn channels(&self) -> Vec<Channel> {
        number(self.quantity.unit)
    }

    fn read(&self, at: &Reading, out: &mut Vec<f64>) {
        out.push(at.system.tyre(self.element, &at.point).map_or(0.0, |tyre| (self.quantity.value)(&tyre)));
    }
}
